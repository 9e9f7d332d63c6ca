import { generate } from "lean-qr";
import { type Html, html } from "../../../kit/html.ts";

/** Modules around the code that stay light (ISO/IEC 18004 demands four). */
const QUIET = 4;

/** A text as a QR code, dark on light in either theme, because cameras expect it so. @param label read out in its place */
export function qrCode(text: string, label: string): Html {
  const code = generate(text);
  const side = code.size + 2 * QUIET;
  let path = "";
  for (let y = 0; y < code.size; y++)
    for (let x = 0; x < code.size; x++) if (code.get(x, y)) path += `M${x + QUIET} ${y + QUIET}h1v1h-1z`;
  return html`<svg class="qr" viewBox="0 0 ${side} ${side}" role="img" aria-label="${label}" shape-rendering="crispEdges"><rect class="paper" width="${side}" height="${side}"/><path d="${path}"/></svg>`;
}
