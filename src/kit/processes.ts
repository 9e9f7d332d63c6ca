/** Whether another process than this has an id, of whatever user. With our own it was one that had it before us. */
export function isOtherRunning(pid: number): boolean {
  if (!pid || pid === process.pid) return false;
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
