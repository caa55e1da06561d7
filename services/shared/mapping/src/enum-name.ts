type NamesOf<Enum> = Exclude<keyof Enum, "UNSPECIFIED">;

/** The name of an enum value; undefined for the unspecified and unknown ones. */
export function enumName<Enum extends Readonly<Record<string, number>>>(
  values: Enum,
  value: number | undefined,
): NamesOf<Enum> | undefined {
  if (value === undefined || value === 0) return undefined;
  return Object.keys(values).find((name) => values[name] === value) as NamesOf<Enum> | undefined;
}
