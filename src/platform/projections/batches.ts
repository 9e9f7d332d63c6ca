export type RowChange = () => unknown;

/** Row changes of one transaction: more would keep everybody else who writes waiting. */
export const MAX_CHANGES = 250;

type RowChanges = Iterable<RowChange> | AsyncIterable<RowChange>;

/** Puts row changes together: as many as one transaction may hold, and at the end what is left. */
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

/** The same as functions, each of which makes those of one transaction. */
export async function* inBatches(changes: RowChanges): AsyncGenerator<() => void> {
  for await (const batch of together(changes)) yield asOne(batch);
}

/** Changes as one that makes them in their order. */
export const asOne = (changes: readonly RowChange[]) => () => {
  for (const change of changes) change();
};
