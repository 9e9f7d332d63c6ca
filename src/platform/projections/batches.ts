export type RowChange = () => unknown;

/** Row changes of one transaction: more would keep everybody else who writes waiting. */
const MAX_CHANGES = 250;

/** Puts row changes together into functions, each of which makes as many as one transaction may hold. */
export async function* inBatches(changes: Iterable<RowChange> | AsyncIterable<RowChange>): AsyncGenerator<() => void> {
  let batch: RowChange[] = [];
  for await (const change of changes) {
    batch.push(change);
    if (batch.length < MAX_CHANGES) continue;
    yield asOne(batch);
    batch = [];
  }
  if (batch.length > 0) yield asOne(batch);
}

const asOne = (changes: readonly RowChange[]) => () => {
  for (const change of changes) change();
};
