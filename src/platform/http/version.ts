import { fail } from "../../kit/problem.ts";
import { unsupportedVersion } from "./faults.ts";

export const VERSION_HEADER = "service-api-version";
export const SERVED_VERSIONS = ["1"] as const;

/** Refuses a pinned version that is not served; without a pin the current version answers. */
export function requireServedVersion(pinned: string | null): void {
  if (pinned === null || (SERVED_VERSIONS as readonly string[]).includes(pinned.trim())) return;
  fail(unsupportedVersion, {
    message: `This deployment serves API version ${SERVED_VERSIONS.join(", ")}.`,
    members: { served: SERVED_VERSIONS },
  });
}
