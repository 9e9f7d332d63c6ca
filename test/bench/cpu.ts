/**
 * Milliseconds of processor time that the thread which asks has used so far: what else the machine does hardly counts. Linux brings a
 * thread's own account up to date once a tick, and that of the process, with all its threads, whenever it is asked for.
 */
export function threadMilliseconds(): number {
  process.cpuUsage();
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}
