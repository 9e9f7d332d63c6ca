import type { RequestRow, Status } from "../../../../share/feature-requests/feature-requests.ts";
import { badge, type Kind } from "../../ui/parts.ts";

/** How requests are spoken of. */

export const WORDS: Readonly<Record<Status, { readonly kind: Kind; readonly label: string; readonly intro: string }>> =
  {
    received: { kind: "info", label: "Received", intro: "Nobody has decided yet." },
    planned: { kind: "neutral", label: "Planned", intro: "It will be done." },
    in_progress: { kind: "warn", label: "In progress", intro: "It is being done." },
    shipped: { kind: "good", label: "Shipped", intro: "It is in the product." },
    declined: { kind: "bad", label: "Declined", intro: "It will not be done." },
  };

export const statusBadge = ({ status, mergedInto }: Pick<RequestRow, "status" | "mergedInto">) =>
  mergedInto === null ? badge(WORDS[status].kind, WORDS[status].label) : badge("neutral", "Duplicate");

/** Enough of a sender's hash to see that two are the same. */
export const senderOf = ({ addressHash }: RequestRow) => addressHash.toString("hex").slice(0, 8);
