import type { Command } from "commander";
import { readAsset } from "../../kit/assets.ts";

/** What ships for Prometheus and Grafana, see docs/monitoring.md; printed as it is, to be put where each reads it. */
export function monitoringCommands(program: Command): void {
  const monitoring = program.command("monitoring").description("rules and a board for the figures of RECKON_METRICS");
  const prints = (name: string, file: string, description: string) =>
    monitoring
      .command(name)
      .description(description)
      .action(() => void process.stdout.write(readAsset(`docs/monitoring/${file}`)));
  prints("alerts", "reckon-alerts.yml", "print the alert rules for Prometheus");
  prints("dashboard", "reckon-dashboard.json", "print the board for Grafana");
}
