import type { Core } from "../../core.ts";
import { whereFull } from "../../kit/errors.ts";
import { directoryPlace } from "./directory-place.ts";
import type { Place } from "./place.ts";
import { s3Place } from "./s3-place.ts";

/** What RECKON_LAKE names. @param signal ends what is under way; undefined where it names nothing */
export function placeOf(core: Core, signal?: AbortSignal): Place | undefined {
  const { lake } = core.config;
  if (lake === null) return undefined;
  return lake.kind === "directory" ? lakeDirectory(lake.path) : s3Place(core, lake, signal);
}

function lakeDirectory(path: string): Place {
  const place = directoryPlace(path);
  const put: Place["put"] = (...file) =>
    place.put(...file).catch((error) => {
      throw whereFull(path, error, "the lake goes on once there is room");
    });
  return { ...place, put };
}
