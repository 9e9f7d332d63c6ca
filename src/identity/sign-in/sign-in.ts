/**
 * Sign-in: accounts with their passwords, signing in with one, and what a one-time link does when it is used; the first person too.
 * Not here: sessions once they began (web-sessions), how a command-line tool signs in (device-flow).
 */

export { createUser, type FirstRun, firstRun, setDisabled, setPassword, storeClosed } from "./accounts.ts";
export { confirmPassword, signIn } from "./authenticate.ts";
export { signInByProxy } from "./by-proxy.ts";
export { continueSignIn, type Entered, secondFactorQuestion } from "./enter.ts";
export { acceptAs, acceptAsNew, type FirstTeam, resetPassword, setUp } from "./link-uses.ts";
