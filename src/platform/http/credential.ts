import type { Core } from "../../core.ts";
import type { Payer } from "../../kit/fair-queue.ts";
import { fail, unauthorized } from "../../kit/problem.ts";
import type { Fault } from "./faults.ts";

/** A kind of credential, sent as a bearer token or in a header of its own; declared by the room that gives it out. */
export interface Credential<P> {
  readonly id: string;
  /** Its security scheme in the OpenAPI document. */
  readonly openapi: {
    readonly name: string;
    readonly description: string;
    readonly bearerFormat?: string;
    /** The header that it is sent in, where that is not `Authorization`. */
    readonly header?: string;
  };
  /** The schemes of other kinds that are found, too. */
  readonly alternatives?: readonly Credential<P>["openapi"][];
  /** A header whose value is the token, in place of `Authorization`; it counts where both are sent. */
  readonly header?: string;
  /** The principal of a token; undefined when it is nobody's. */
  readonly find: (core: Core, token: string) => P | undefined | Promise<P | undefined>;
  /** Fails with `unauthorized` for one that is known but of no use any more. */
  readonly judge?: (core: Core, principal: NonNullable<P>) => void;
  /** Faults that `judge` throws besides `unauthorized`; an endpoint whose refusals have their own shape answers them in that shape. */
  readonly faults?: readonly Fault[];
  /** The payer of its requests: of the limits, and of the server's memory and time. */
  readonly sender: (principal: NonNullable<P>) => Payer;
  /** Requests without a valid credential get through, too. */
  readonly lenient?: boolean;
}

/** Declares a kind of credential. */
export const credential = <P>(declared: Credential<P>): Credential<P> => declared;

/** For an endpoint that judges expired, revoked and unknown tokens itself. */
export const unjudged = <P>({ judge: _, ...rest }: Credential<P>): Credential<P | undefined> => ({
  ...rest,
  lenient: true,
});

/**
 * The credential of `Authorization: Bearer` (RFC 6750 section 2.1), or undefined when none was sent. The space may be percent-encoded: that
 * is how `OTEL_EXPORTER_OTLP_HEADERS` is written, and some exporters (Claude Code's) send it undecoded.
 */
export function bearerToken(header: string | null): string | undefined {
  return header === null ? undefined : /^Bearer(?: |%20)+(\S.*)$/i.exec(header)?.[1]?.trim();
}

/** Whose a token is. @throws Problem unauthorized (401) */
export function authenticate<P>(
  core: Core,
  { find, judge, lenient }: Credential<P>,
  bearer: string | undefined,
): P | undefined | Promise<P | undefined> {
  const judged = (found: P | undefined) => {
    if (lenient) return found;
    if (!found) return fail(unauthorized, bearer === undefined ? {} : "The bearer token is not valid.");
    judge?.(core, found);
    return found;
  };
  const found = bearer === undefined ? undefined : find(core, bearer);
  return found instanceof Promise ? found.then(judged) : judged(found);
}
