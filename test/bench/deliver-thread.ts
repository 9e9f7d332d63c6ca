/** Delivers in a thread of its own, so that what the bench itself sends meanwhile does not count as the server's time; see `deliverBeside`. */
import { parentPort, workerData } from "node:worker_threads";
import { type DeliveryLoad, deliver } from "./probe.ts";

const { address, tokens, pace } = workerData as DeliveryLoad;
const over = new Promise<void>((resolve) => parentPort?.once("message", () => resolve()));
parentPort?.postMessage("ready");
const met = await Promise.all(tokens.map((token) => deliver(address, token, over, pace)));
parentPort?.postMessage(met);
