import type { Config } from "../../config.ts";
import { TIERS, tierHas } from "../../identity/teams/teams.ts";
import { baseUrlOf } from "../../kit/base-url.ts";
import { isoInstant } from "../../kit/clock.ts";
import { fail, invalid, Problem, type ProblemDetails } from "../../kit/problem.ts";
import { type Endpoint, faultsOf, Reply } from "../../platform/http/endpoint.ts";
import type { Fault } from "../../platform/http/faults.ts";
import type { LimitUse } from "../../platform/http/request.ts";
import { SERVED_VERSIONS } from "../../platform/http/version.ts";
import type { Wire } from "./wire.ts";

/** A planned fault that waits for requests. */
export interface Planned extends Wire {
  readonly operationId: string;
  /** Null where the endpoint answers, and only the way of its reply is disturbed. */
  readonly status: number | null;
  /** The row of the endpoint's declaration, or the name of a reply that is declared beside the faults; null without a status. */
  readonly fault: string | null;
  /** How many further requests get it. */
  readonly times: number;
  readonly retryAfter: number | null;
}

export interface WantedFault extends Wire {
  readonly operationId: string;
  readonly status?: number | undefined;
  /** Name or code, where an operation declares several faults of a status; the first of them by default. */
  readonly fault?: string | undefined;
  readonly times: number;
  readonly retryAfter?: number | undefined;
}

const DEFAULT_RETRY_SECONDS = 1;

/** Seconds that endpoints themselves ask to wait, where these are not the usual ones. */
const WAITS: Readonly<Record<string, number>> = { signingUnavailable: 30, tooManyWaiting: 60 };

/** The address that a team is said to have moved to; nobody answers there (RFC 2606, section 3). */
const ELSEWHERE = "https://reckon.example.net";

interface Beside {
  readonly status: number;
  readonly name: string;
  readonly says: string;
  readonly body: (now: number) => object;
}

/** Replies with a status above 399 that are no faults, by operation. */
const BESIDE: Readonly<Record<string, Beside>> = {
  getHealth: {
    ...{ status: 503, name: "degraded", says: "The database cannot be read or written." },
    body: (now) => ({ status: "degraded", db: "down", ts: isoInstant(now) }),
  },
};

/** The capability that a tier gate names, by operation; the brain for those not listed. */
const CAPABILITIES: Readonly<Record<string, Parameters<typeof tierHas>[1]>> = {
  telemetryIngest: "telemetry",
  agentTracesIngest: "traces",
  gitAiNotesUpload: "traces",
};

/** Faults that requests are answered with instead of reaching their endpoint. */
export class PlannedFaults {
  readonly #endpoints: ReadonlyMap<string, Endpoint>;
  readonly #now: () => number;
  readonly #config: Config;
  readonly #planned = new Map<string, Planned>();

  constructor(endpoints: readonly Endpoint[], config: Config, now: () => number) {
    this.#config = config;
    this.#endpoints = new Map(endpoints.map((one) => [one.spec.id, one]));
    this.#now = now;
  }

  list(): Planned[] {
    return [...this.#planned.values()];
  }

  /** What can be planned, by operation. */
  declared(): Record<string, { status: number; name: string; code: string | null; says: string }[]> {
    return Object.fromEntries(
      [...this.#endpoints].map(([id, endpoint]) => [
        id,
        [
          ...faultsOf(endpoint).map(({ status, name, code, message }) => ({ status, name, code, says: message })),
          ...(BESIDE[id]
            ? [{ status: BESIDE[id].status, name: BESIDE[id].name, code: null, says: BESIDE[id].says }]
            : []),
        ],
      ]),
    );
  }

  /** Plans a fault in place of the operation's last one; `times: 0` takes it back. @throws Problem naming what is declared */
  plan(requested: WantedFault): Planned {
    const { operationId, status, times, delayMs, drop, truncate } = requested;
    const endpoint = this.#endpoint(operationId);
    if (status === undefined && times > 0 && !drop && delayMs === undefined && truncate === undefined)
      fail(invalid, "Say what is to happen: status, delayMs, drop or truncate.");
    const fault = status === undefined ? null : this.#nameOf(endpoint, { ...requested, status });
    const planned: Planned = {
      operationId,
      status: status ?? null,
      fault,
      times,
      retryAfter: requested.retryAfter ?? null,
      ...(delayMs === undefined ? {} : { delayMs }),
      ...(drop ? { drop } : {}),
      ...(truncate === undefined ? {} : { truncate }),
    };
    if (times === 0) this.#planned.delete(operationId);
    else this.#planned.set(operationId, planned);
    return planned;
  }

  #nameOf(endpoint: Endpoint, requested: WantedFault & { readonly status: number }): string {
    const beside = BESIDE[requested.operationId];
    const isBeside = beside?.status === requested.status && (requested.fault ?? beside.name) === beside.name;
    return isBeside ? beside.name : this.#fault(endpoint, requested).name;
  }

  /** Takes back the planned fault of one operation, or all. @returns how many there were */
  clear(operationId?: string): number {
    if (operationId === undefined) {
      const { size } = this.#planned;
      this.#planned.clear();
      return size;
    }
    this.#endpoint(operationId);
    return Number(this.#planned.delete(operationId));
  }

  /** The fault planned for the operation's next request. */
  awaits({ spec }: Endpoint): Planned | undefined {
    return this.#planned.get(spec.id);
  }

  /** Answers a request with what is planned for its operation, if anything is. @throws Problem for a fault */
  take(endpoint: Endpoint, drawn: LimitUse[]): Reply<unknown> | undefined {
    const { id } = endpoint.spec;
    const planned = this.#planned.get(id);
    if (!planned) return undefined;
    if (planned.times > 1) this.#planned.set(id, { ...planned, times: planned.times - 1 });
    else this.#planned.delete(id);
    if (planned.status === null) return undefined;
    const fault = faultsOf(endpoint).find(({ name }) => name === planned.fault);
    if (fault) throw new Problem(fault, this.#extra(endpoint, fault, planned, drawn));
    const headers = { "retry-after": String(planned.retryAfter ?? 5) };
    return new Reply(BESIDE[id]?.body(this.#now()), { status: planned.status, headers });
  }

  #endpoint(operationId: string): Endpoint {
    const endpoint = this.#endpoints.get(operationId);
    if (!endpoint)
      fail(invalid, `There is no operation "${operationId}". There are: ${[...this.#endpoints.keys()].join(", ")}.`);
    return endpoint;
  }

  #fault(endpoint: Endpoint, { operationId, status, fault }: WantedFault): Fault {
    const declared = faultsOf(endpoint);
    const found = declared.find(
      (one) => one.status === status && (fault === undefined || one.name === fault || one.code === fault),
    );
    if (found) return found;
    const names = declared.map((one) => `${one.status} ${one.name}`);
    const beside = BESIDE[operationId];
    if (beside) names.push(`${beside.status} ${beside.name}`);
    fail(
      invalid,
      `The operation ${operationId} declares no ${status}${fault === undefined ? "" : ` "${fault}"`}. It declares: ${names.join(", ")}.`,
    );
  }

  /** The details that the endpoint itself would add to the fault's row. */
  #extra(endpoint: Endpoint, fault: Fault, { retryAfter }: Planned, drawn: LimitUse[]): ProblemDetails {
    const members: Record<string, unknown> = {};
    const capability = CAPABILITIES[endpoint.spec.id] ?? "brain";
    if (fault.shape === "tierGate") members.entitled = TIERS.filter((tier) => tierHas(tier, capability));
    if (fault.shape === "download") members.download = `${baseUrlOf(this.#config)}/download`;
    if (fault.shape === "moved") members.movedTo = ELSEWHERE;
    if (fault.name === "unsupportedVersion") members.served = SERVED_VERSIONS;
    if (fault.status !== 429) {
      return { members, retryAfterSeconds: fault.retryable === false ? undefined : (retryAfter ?? WAITS[fault.name]) };
    }
    const wait = retryAfter ?? DEFAULT_RETRY_SECONDS;
    this.#exhaust(endpoint, wait, drawn);
    return { members, retryAfterSeconds: drawn.length > 0 ? undefined : wait };
  }

  /** Adds the endpoint's limits as used up, for the headers of a 429. */
  #exhaust({ spec }: Endpoint, wait: number, drawn: LimitUse[]): void {
    for (const limit of spec.limits) {
      const quota = limit.quota(this.#config);
      if (!quota) continue;
      const decision = {
        allowed: false,
        limit: quota.count,
        remaining: 0,
        resetSeconds: wait,
        retryAfterSeconds: wait,
      };
      drawn.push({ limit, decision, seconds: quota.seconds });
    }
  }
}
