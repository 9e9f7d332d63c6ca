import { room } from "../../platform/rooms/rooms.ts";
import { watchPrincipals } from "./principals.ts";

export const accounts = room({
  name: "accounts",
  open: watchPrincipals,
  auditActions: {
    "session.started": { label: "Signed in", did: "signed in", beyondTeams: true },
    "session.refused": { label: "Sign-in refused", did: "was refused at signing in", beyondTeams: true },
    "session.ended": { label: "Signed out", did: "signed out", beyondTeams: true },
    "session.ended_all": { label: "Signed out everywhere else", did: "signed out everywhere else", beyondTeams: true },
    "user.created": { label: "Account made", did: "made the account", beyondTeams: true },
    "user.disabled": { label: "Account closed", did: "closed the account", beyondTeams: true },
    "user.enabled": { label: "Account opened", did: "opened the account", beyondTeams: true },
    "user.password_changed": { label: "Password changed", did: "changed the password of", beyondTeams: true },
    "user.reset_link_made": { label: "Reset link made", did: "made a password link for" },
    "user.operator_granted": { label: "Operator made", did: "made an operator of", beyondTeams: true },
    "user.operator_withdrawn": { label: "Operator unmade", did: "took the operator's right from", beyondTeams: true },
    "team.created": { label: "Team made", did: "made the team" },
    "team.changed": { label: "Team changed", did: "changed the team" },
    "team.verified": { label: "Publisher verified", did: "verified as a publisher" },
    "team.unverified": { label: "Publisher's verification taken back", did: "took back the verification of" },
    "member.added": { label: "Person joined", did: "added" },
    "member.role_changed": { label: "Role changed", did: "changed the role of" },
    "member.removed": { label: "Person removed", did: "removed" },
    "invitation.made": { label: "Invitation made", did: "made an invitation" },
    "invitation.accepted": { label: "Invitation accepted", did: "accepted an invitation" },
    "invitation.revoked": { label: "Invitation revoked", did: "revoked an invitation" },
  },
});
