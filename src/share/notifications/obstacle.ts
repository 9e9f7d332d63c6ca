import type { Core } from "../../core.ts";
import { judgeMailHost, judgeUrl, listLine, OutboundRefused } from "../../platform/outbound/outbound.ts";
import type { Channel } from "./channels.ts";

/** Why nothing can be sent to a channel, as this server is set up; undefined where something can. */
export interface Obstacle {
  readonly message: string;
  /** The setting that would mend it. */
  readonly line: string | undefined;
}

/**
 * What keeps messages from a channel, as far as it can be told without a look at the network.
 * @param toOperator whether an operator reads it: the whole setting names the hosts of all teams and of the installation, which nobody
 *   else is shown
 */
export function obstacleOf(core: Core, { kind, target }: Channel, toOperator: boolean): Obstacle | undefined {
  const { smtpUrl, outbound } = core.config;
  if (kind === "mail" && smtpUrl === null)
    return { message: "RECKON_SMTP_URL names no mail server.", line: "RECKON_SMTP_URL=smtp://USER@HOST:587" };
  try {
    if (kind === "mail" && smtpUrl) judgeMailHost(core, smtpUrl.host, smtpUrl.port);
    else judgeUrl(core, target);
    return undefined;
  } catch (error) {
    if (!(error instanceof OutboundRefused)) throw error;
    if (error.add === undefined) return { message: error.message, line: undefined };
    return toOperator || outbound.hosts.length === 0
      ? { message: error.message, line: listLine(core, error.add) }
      : { message: `${error.message} An operator of this installation can add ${error.add}.`, line: undefined };
  }
}
