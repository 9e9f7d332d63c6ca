/** What we use of negotiator 1.1, which carries no types. */
declare module "negotiator" {
  export default class Negotiator {
    constructor(request: { readonly headers: Readonly<Record<string, string | undefined>> });
    /** The media types given that are acceptable, the most wanted first. */
    mediaTypes(available: readonly string[]): string[];
  }
}
