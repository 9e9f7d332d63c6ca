import { type Html, html } from "../../../kit/html.ts";

/** Small pictures beside words, 16 pixels square; drawn in the colour of the text and unseen by who cannot see them. */

const icon = (paths: string): Html =>
  html`<svg class="icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true"><path d="${paths}"/></svg>`;

export const ICONS = {
  overview: icon("M2.5 9.5v4h4v-4zM2.5 2.5v4h4v-4zM9.5 2.5v4h4v-4zM9.5 9.5v4h4v-4z"),
  sessions: icon("M2 3h12v10H2zM4.5 6l2 2-2 2M8.5 10h3"),
  errors: icon("M8 2.2 14.3 13H1.7zM8 6.5v3M8 11.3v.1"),
  spend: icon(
    "M8 1.8v12.4M11 4.6C10.3 3.7 9.3 3.4 8 3.4c-1.8 0-3 .8-3 2.2 0 3.2 6.2 1.5 6.2 4.7 0 1.5-1.3 2.3-3.2 2.3-1.5 0-2.6-.5-3.3-1.5",
  ),
  brain: icon("M3 3.2c2-.8 3.8-.5 5 .6 1.2-1.1 3-1.4 5-.6v9.3c-2-.8-3.8-.5-5 .6-1.2-1.1-3-1.4-5-.6zM8 3.8v9.3"),
  devices: icon("M3.2 3.5h9.6v6.5H3.2zM1.5 12.5h13"),
  telemetry: icon("M1.5 8.5H4l2-5.5 3.5 10 2-4.5h3"),
  audit: icon("M4 2.5h8v11.5H4zM6.3 5.5h3.4M6.3 8h3.4M6.3 10.5h2"),
  evidence: icon("M8 1.8 13 3.6v4c0 3.2-2.1 5.4-5 6.6-2.9-1.2-5-3.4-5-6.6v-4zM5.8 8l1.6 1.6 2.9-3.1"),
  team: icon("M2 4.5h6.5M12 4.5h2M2 11.5h2M7.5 11.5H14M10.2 2.8v3.4M5.8 9.8v3.4"),
  installation: icon("M2.5 3h11v4h-11zM2.5 9h11v4h-11zM5 5h.1M5 11h.1"),
  search: icon("M7 2.5a4.5 4.5 0 1 0 0 9a4.5 4.5 0 0 0 0-9zM10.4 10.4 13.8 13.8"),
} as const;
