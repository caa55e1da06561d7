import type { Json } from "../../stack/api.ts";
import type { ProjectName } from "./project-name.ts";
import type { Shop } from "./shop.ts";

/** A request to the RPC's HTTP binding; `params` fill its path. */
export type CaseRequest = {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Json;
  readonly body?: Json;
  /** Content of the uploaded file. */
  readonly file?: string;
  readonly headers?: Readonly<Record<string, string>>;
};

export type ErrorCase = {
  /** `VoucherService.GetVoucher` */
  readonly rpc: string;
  readonly key: string;
  /** Whether the key is the error of the response, or inside a successful one. Default: `error`. */
  readonly place?: "error" | "rejection";
  /** Default: `main`. */
  readonly project?: ProjectName;
  /** Which HTTP binding of the RPC is called. Default: the first. */
  readonly side?: "client" | "management";
  /** The response has the status of the key, but no body (RFC 7009). */
  readonly isBodiless?: true;
  /** The request, or what creates its resources first. */
  readonly request: CaseRequest | ((shop: Shop) => Promise<CaseRequest>);
};

export const pairOf = ({ rpc, key, place = "error" }: Omit<ErrorCase, "request">): string =>
  `${rpc} ${key}${place === "error" ? "" : ` (${place})`}`;
