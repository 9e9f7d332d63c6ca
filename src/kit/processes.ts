/** Whether another process, of whatever user, has an id. Our own id in a file was an earlier process's, so it does not count. */
export function isOtherRunning(pid: number): boolean {
  if (!pid || pid === process.pid) return false;
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
