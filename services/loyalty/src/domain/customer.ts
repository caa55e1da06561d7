/** What a request says about a customer; `undefined` is not said and stays as it is. */
export type CustomerInput = {
  readonly id?: string | undefined;
  readonly sourceId?: string | undefined;
  readonly name?: string | undefined;
  readonly email?: string | undefined;
  readonly phone?: string | undefined;
  readonly country?: string | undefined;
  readonly description?: string | undefined;
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
};

export type Customer = {
  readonly id: string;
  readonly sourceId: string | null;
  readonly name: string | null;
  readonly email: string | null;
  readonly metadata: Readonly<Record<string, unknown>>;
};

/** How a request names a customer: an id decides over a source id (platform specification §0.2.6). */
export type CustomerKey = {
  readonly projectId: string;
  readonly column: "id" | "source_id";
  readonly value: string;
};

export function keyOf(projectId: string, customer: CustomerInput): CustomerKey | undefined {
  if (customer.id !== undefined) return { projectId, column: "id", value: customer.id };
  if (customer.sourceId === undefined) return undefined;
  return { projectId, column: "source_id", value: customer.sourceId };
}

/** Whether the request says anything to store besides who the customer is. */
export function saysMore(customer: CustomerInput): boolean {
  const { name, email, phone, country, description, metadata } = customer;
  return [name, email, phone, country, description, metadata].some((field) => field !== undefined);
}
