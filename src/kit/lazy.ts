/** What costs to make and is seldom needed, made when it is first asked for: every command waits for what modules do when they are loaded. */
export function lazy<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
