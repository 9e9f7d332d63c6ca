import { makeData, removeData } from "./support/data.ts";
import { killRound } from "./support/kill.ts";

/** Kills a server under load again and again, for the record: `node test/faults/kill-loop.ts [ROUNDS]`. */
const rounds = Number(process.argv[2] ?? 20);
const data = await makeData({ devices: 4 });
let acknowledged = 0;
let failed = 0;
for (let round = 1; round <= rounds; round++) {
  const after = 20 + Math.floor(Math.random() * 300);
  const found = await killRound(data, `round${round}`, after, (server) => server.end("SIGKILL"));
  const { lost, resent, odd } = found;
  const holds = lost.length + resent.length + odd.length === 0 && found.integrity === "ok" && found.verify === 0;
  acknowledged += found.acknowledged;
  if (!holds) failed++;
  console.log(
    `${round}/${rounds} ${holds ? "acknowledged ⊆ stored" : "FAILED"}: ${found.sent} sent, ${found.acknowledged} acknowledged, ` +
      `${lost.length} lost, ${found.unasked} stored unasked, resend ${resent.length === 0 ? "harmless" : resent[0]}, ` +
      `integrity_check ${found.integrity}, ledger verify ${found.verify}${odd.length > 0 ? `, odd ${odd[0]}` : ""}`,
  );
}
removeData(data.directory);
console.log(`${rounds - failed} of ${rounds} kills lost nothing; ${acknowledged} batches acknowledged`);
process.exitCode = failed === 0 ? 0 : 1;
