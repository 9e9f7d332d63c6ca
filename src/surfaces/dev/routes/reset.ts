import { control } from "./route.ts";
import { describeState } from "./state.ts";

export const resetRoute = control(
  {
    method: "POST",
    path: "/_dev/reset",
    description: "back to the seed: data, credentials, clock, limits, planned faults, journal",
  },
  async ({ local }) => {
    const tookMs = await local.reset();
    return { tookMs, ...(await describeState(local)) };
  },
);
