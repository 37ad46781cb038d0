/** Canonical JSON (RFC 8785, JCS): one text for each value, from which hashes are made. */

export type Json = null | boolean | number | string | readonly Json[] | JsonObject

export interface JsonObject {
  readonly [name: string]: Json
}

/**
 * ECMAScript writes numbers and strings as the RFC requires, and sorts names by UTF-16 code units.
 *
 * @throws RangeError for what JSON can't hold: lone surrogates, Infinity and NaN
 */
export function canonicalJson(value: Json): string {
  if (typeof value === 'string') return quoted(value)
  if (typeof value === 'number' && !Number.isFinite(value)) throw new RangeError('the number is not finite')
  if (value === null || typeof value !== 'object') return JSON.stringify(value)
  if (isList(value)) return list(value)
  return object(value)
}

function object(value: JsonObject): string {
  let members = ''
  for (const name of Object.keys(value).sort()) {
    members += `${members === '' ? '' : ','}${quoted(name)}:${canonicalJson(value[name] ?? null)}`
  }
  return `{${members}}`
}

/** Lists of texts may be long. */
function list(values: readonly Json[]): string {
  const isPlain = values.every((value) => typeof value === 'string' && value.isWellFormed())
  return isPlain ? JSON.stringify(values) : `[${values.map(canonicalJson).join(',')}]`
}

function isList(value: readonly Json[] | JsonObject): value is readonly Json[] {
  return Array.isArray(value)
}

function quoted(text: string): string {
  if (!text.isWellFormed()) throw new RangeError('the text has a lone surrogate')
  return JSON.stringify(text)
}
