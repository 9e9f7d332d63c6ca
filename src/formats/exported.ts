/**
 * The repository key of the stream that its entries have on each device: OTLP numbers nothing and knows of no repository, and no client's
 * counter may run through the numbers that are given here.
 */
export const OTLP_STREAM = "(otlp)";

/** The keys that streams of a repository have; `""` for what names none. */
export const streamKeys = (repoKey: string): string[] => (repoKey === "" ? ["", OTLP_STREAM] : [repoKey]);

/** Stands in every span that was exported: its session may have others, of the capture client's. */
export const OTLP_MARK = { via: "otlp" } as const;

/** Whether a span was exported. @param document of the span */
export const isExported = (document: Readonly<Record<string, unknown>>): boolean => document.via === OTLP_MARK.via;
