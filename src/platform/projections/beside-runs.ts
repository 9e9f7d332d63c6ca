import type { Core } from "../../core.ts";
import type { Projection } from "./projection.ts";
import { rows } from "./rows.ts";
import { standingOf, standsAt } from "./standing.ts";

/**
 * Row changes to what a projection stores that follow from no row of its source. Like the parts of a batch, each is claimed, so that neither
 * is made from rows that the other has changed since they were read.
 * @param changesOf reads the rows; asked anew when the projection went on in between, until all its changes are made
 */
export async function* besideRuns(
  core: Core,
  projection: Projection,
  changesOf: () => AsyncIterable<() => void>,
): AsyncGenerator<() => void> {
  const { name } = projection;
  for (let isDone = false; !isDone; ) {
    isDone = true;
    let standing = standingOf(core, projection);
    for await (const change of changesOf()) {
      yield () => {
        isDone = standsAt(core, projection, standing);
        if (!isDone) return;
        change();
        standing = { ...standing, part: standing.part + 1 };
        rows(core.store).start.run(name);
        rows(core.store).stand.run({ name, ...standing });
      };
      if (!isDone) break;
    }
  }
}
