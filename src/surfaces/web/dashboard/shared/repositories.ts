import type { Core } from "../../../../core.ts";
import { OTLP_STREAM } from "../../../../formats/exported.ts";
import { listRepositories } from "../../../../record/brain/brain.ts";
import { listRepoKeys } from "../../../../record/telemetry/telemetry.ts";

/** The repository of a stream's key. What agents export by themselves has a stream of its own, which names none. */
export const repoOfStream = (key: string): string => (key === OTLP_STREAM ? "" : key);

/** The repositories in a team's telemetry and brains; `""` where something was sent that names none. */
export const reposTold = (core: Core, teamId: string): Set<string> =>
  new Set([
    ...listRepoKeys(core, teamId).map(repoOfStream),
    ...listRepositories(core, teamId).map(({ repoKey }) => repoKey),
  ]);
