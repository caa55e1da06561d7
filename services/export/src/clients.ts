import type { Transport } from "@connectrpc/connect";

/** The services that export calls. */
export type Transports = Readonly<
  Record<"validation" | "campaign" | "voucher" | "loyalty", Transport>
>;
