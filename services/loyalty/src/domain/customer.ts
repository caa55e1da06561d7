/** Customer data of a request. */
export type CustomerInput = {
  readonly id?: string | undefined;
  readonly sourceId?: string | undefined;
  readonly name?: string | undefined;
  readonly email?: string | undefined;
  readonly phone?: string | undefined;
  readonly country?: string | undefined;
  readonly description?: string | undefined;
  readonly birthdate?: string | undefined;
  readonly birthday?: string | undefined;
  readonly address?: AddressInput | undefined;
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
};

type AddressInput = {
  readonly city?: string | undefined;
  readonly state?: string | undefined;
  readonly line1?: string | undefined;
  readonly line2?: string | undefined;
  readonly country?: string | undefined;
  readonly postalCode?: string | undefined;
};

/** The part of a customer that decisions read. */
export type Customer = {
  readonly id: string;
  readonly sourceId: string | null;
  readonly name: string | null;
  readonly email: string | null;
  /** YYYY-MM-DD. */
  readonly birthdate: string | null;
  readonly metadata: Readonly<Record<string, unknown>>;
};

export const ADDRESS_FIELDS = [
  "city",
  "state",
  "line_1",
  "line_2",
  "country",
  "postal_code",
] as const;

/** Columns that requests set. */
export const CUSTOMER_FIELDS = [
  "name",
  "description",
  "email",
  "phone",
  "birthdate",
  ...ADDRESS_FIELDS,
] as const;
export type CustomerField = (typeof CUSTOMER_FIELDS)[number];

export type CustomerProfile = Readonly<Record<CustomerField, string | null>> & {
  readonly id: string;
  readonly sourceId: string | null;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly createdAt: Date;
  readonly updatedAt: Date | null;
  readonly summary: CustomerCounts;
};

/** What a customer has earned and done, as far as filters of segments read it. */
export type CustomerActivity = {
  /** On all cards. */
  readonly points: bigint;
  /** With all cards. */
  readonly redeemedPoints: bigint;
  /** By the name of the program. */
  readonly pointsByProgram: ReadonlyMap<string, bigint>;
  /** Number of custom events by name, up to the one that makes a difference. */
  readonly events: ReadonlyMap<string, bigint>;
};

/** Figures of a customer that are counted from events. Amounts are minor units. */
export type CustomerCounts = {
  readonly redemptions: bigint;
  readonly failed: bigint;
  readonly rolledBack: bigint;
  readonly rollbacksRejected: bigint;
  readonly giftAmount: bigint;
  readonly orders: bigint;
  readonly ordersAmount: bigint;
  readonly lastOrder: { readonly amount: bigint; readonly at: Date } | null;
};

/** A referral, as the referee sees it. */
export type Referral = {
  readonly referrerId: string;
  readonly campaignId: string;
  /** What converted the code. */
  readonly relatedObject: { readonly type: string; readonly id: string };
  readonly at: Date;
};

export type ReferralFigures = {
  /** Referrals of the customer as referee, oldest first. */
  readonly referrals: readonly Referral[];
  /** Number of customers whom the customer referred. */
  readonly referredCustomers: bigint;
  /** The same number by campaign id. */
  readonly referredByCampaign: Readonly<Record<string, bigint>>;
};

/** Changes to a customer: absent fields stay, metadata is merged key by key. */
export type CustomerChange = {
  readonly fields: Partial<Readonly<Record<CustomerField, string | null>>>;
  readonly metadata: Readonly<Record<string, unknown>>;
};

/** How a request refers to a customer; an id takes precedence over a source id (docs/customers.md#upsert). */
export type CustomerKey = {
  readonly projectId: string;
  readonly column: "id" | "source_id";
  readonly value: string;
};

export function customerKeyOf(projectId: string, customer: CustomerInput): CustomerKey | undefined {
  if (customer.id !== undefined) return { projectId, column: "id", value: customer.id };
  if (customer.sourceId === undefined) return undefined;
  return { projectId, column: "source_id", value: customer.sourceId };
}

/** Whether the input contains anything to store besides ids. */
export function hasChanges(customer: CustomerInput): boolean {
  const { fields, metadata } = customerChangeOf(customer);
  return Object.keys(fields).length > 0 || Object.keys(metadata).length > 0;
}

/**
 * The changes of a request. `mask` lists the fields that were sent, parts of the address as `address.city`; a sent field
 * without a value is cleared.
 * Without a mask, the fields with a value count as sent.
 */
export function customerChangeOf(input: CustomerInput, mask?: readonly string[]): CustomerChange {
  const sent = mask && new Set(mask);
  const fields: Partial<Record<CustomerField, string | null>> = {};
  const take = (field: CustomerField, name: string, value: string | undefined): void => {
    if (sent?.has(name) ?? value !== undefined) fields[field] = value ?? null;
  };
  take("name", "name", input.name);
  take("description", "description", input.description);
  take("email", "email", input.email);
  take("phone", "phone", input.phone);
  // The newer name comes last and takes precedence.
  take("birthdate", "birthday", input.birthday);
  take("birthdate", "birthdate", input.birthdate);
  take("country", "country", input.country);
  if (input.address === undefined && sent?.has("address") === true) {
    for (const field of ADDRESS_FIELDS) fields[field] ??= null;
  }
  const { city, state, line1, line2, country, postalCode } = input.address ?? {};
  const parts = { city, state, line_1: line1, line_2: line2, country, postal_code: postalCode };
  for (const field of ADDRESS_FIELDS) {
    const part = parts[field];
    if (part !== undefined) fields[field] = part;
    else if (sent?.has(`address.${field}`) === true) fields[field] ??= null;
  }
  return { fields, metadata: input.metadata ?? {} };
}

/** Rounded half up. */
export const averageOf = (total: bigint, count: bigint): bigint =>
  count === 0n ? 0n : (2n * total + count) / (2n * count);
