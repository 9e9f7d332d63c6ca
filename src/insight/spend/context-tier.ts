/**
 * Sizes of requests, in tokens of the whole request, above which some provider charges other prices. A new one needs the
 * derived tables filled anew: usages are kept by the tier they fall in.
 */
export const BREAKPOINTS = [100_000, 128_000, 200_000, 256_000, 272_000] as const;

/** The highest breakpoint that a request lies above; 0 when it lies above none. */
export function contextTier(tokens: number): number {
  return BREAKPOINTS.findLast((breakpoint) => tokens > breakpoint) ?? 0;
}
