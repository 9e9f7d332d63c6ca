export type RowChange = () => unknown;

/** Row changes of one transaction: more would keep everybody else who writes waiting. */
export const MAX_CHANGES = 250;

type RowChanges = Iterable<RowChange> | AsyncIterable<RowChange>;

/** Groups row changes: as many as one transaction may hold, and at the end the rest. */
export async function* together(changes: RowChanges): AsyncGenerator<readonly RowChange[]> {
  let batch: RowChange[] = [];
  for await (const change of changes) {
    batch.push(change);
    if (batch.length < MAX_CHANGES) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

/** As `together`, with each group as a function that makes its changes. */
export async function* inBatches(changes: RowChanges): AsyncGenerator<() => void> {
  for await (const batch of together(changes)) yield asOne(batch);
}

/** One change that makes several in their order. */
export const asOne = (changes: readonly RowChange[]) => () => {
  for (const change of changes) change();
};
