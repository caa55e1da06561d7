// The ledger for readers outside the service: `scrip ledger`.
export type { LedgerRecord } from "./ledger-records.ts";
export { createLedgerVerifier, type LedgerFault } from "./verify-ledger.ts";
export { listLedgerProjects, readLedger } from "../store/ledger-records.ts";
