/** Reads values of `OTEL_*` variables, and collects warnings about those that can't be read. */

const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
/** A field value that can be sent (RFC 9110, section 5.5). */
const VALUE = /^[\t -~]*$/
/** Fields of the exporter itself. */
const RESERVED = new Set([
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'expect',
  'host',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

export class Variables {
  readonly #env: Readonly<Record<string, string | undefined>>
  readonly warnings: string[] = []

  constructor(env: Readonly<Record<string, string | undefined>>) {
    this.#env = env
  }

  warn(name: string, fault: string): void {
    this.warnings.push(`${name} ${fault}`)
  }

  /** Null: unset or empty. */
  get(name: string): string | null {
    const value = Object.hasOwn(this.#env, name) ? this.#env[name]?.trim() : undefined
    return value === undefined || value === '' ? null : value
  }

  /** The name of the variable that counts: the one for traces alone before the one for all signals. */
  otlp(name: string): string {
    const own = `OTEL_EXPORTER_OTLP_TRACES_${name}`
    return this.get(own) === null ? `OTEL_EXPORTER_OTLP_${name}` : own
  }

  flag(name: string): boolean {
    return this.choice(name, ['true', 'false'], 'false') === 'true'
  }

  /** In any case. */
  choice<C extends string>(name: string, choices: readonly C[], usual: C): C {
    const value = this.get(name)?.toLowerCase() ?? usual
    const found = choices.find((each) => each === value)
    if (found === undefined) this.warn(name, `is none of ${choices.join(', ')}: ${usual} is used`)
    return found ?? usual
  }

  /** From 1. */
  integer(name: string, usual: number, most: number): number {
    const value = this.get(name)
    if (value === null) return usual
    if (/^[1-9][0-9]{0,8}$/.test(value) && Number(value) <= most) return Number(value)
    this.warn(name, `is not a number from 1 to ${most}: ${usual} is used`)
    return usual
  }

  /** Null: unset. */
  list(name: string): string[] | null {
    return (
      this.get(name)
        ?.split(',')
        .map((each) => each.trim().toLowerCase()) ?? null
    )
  }

  /**
   * `key=value,key=value`, percent-encoded. The whole value is ignored where a part of it is malformed (Resource SDK,
   * "Specifying resource information via an environment variable").
   */
  pairs(name: string): [string, string][] {
    const value = this.get(name)
    if (value === null) return []
    const pairs: [string, string][] = []
    for (const part of value.split(',')) {
      const pair = part.trim() === '' ? null : decodedPair(part)
      if (pair !== null) pairs.push(pair)
      else if (part.trim() !== '') {
        this.warn(name, 'is not key=value,key=value with percent-encoded values: it is ignored')
        return []
      }
    }
    return pairs
  }

  /** @returns name in lower case, value, … */
  headers(name: string): string[] {
    const pairs = this.pairs(name)
    const isHeader = ([key, value]: [string, string]) =>
      NAME.test(key) && VALUE.test(value) && !RESERVED.has(key.toLowerCase())
    if (pairs.every(isHeader)) return pairs.flatMap(([key, value]) => [key.toLowerCase(), value])
    this.warn(name, 'has a header that cannot be sent: it is ignored')
    return []
  }
}

/** Null: malformed. */
function decodedPair(part: string): [string, string] | null {
  const equals = part.indexOf('=')
  if (equals < 0) return null
  try {
    const key = decodeURIComponent(part.slice(0, equals).trim())
    return key === '' ? null : [key, decodeURIComponent(part.slice(equals + 1).trim())]
  } catch {
    return null
  }
}
