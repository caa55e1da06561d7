// The audit log for readers outside the service: `scrip audit`.
export type { ChainEnd } from "./audit-records.ts";
export { type AuditCounts, type AuditFault, verifyProject } from "./verify-audit-log.ts";
export {
  listAuditProjects,
  readAuditScope,
  readChainEnds,
  withAuditProject,
} from "../store/audit-records.ts";
