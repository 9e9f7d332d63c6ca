import type { Content } from "../../../../kit/html.ts";
import { none } from "../../ui/parts.ts";

/** A share of 0 to 1 in percent; null where there is none. */
export const share = (of: number | null): Content => (of === null ? none : `${Math.round(of * 100)} %`);
