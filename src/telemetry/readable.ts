/** Formats log lines for people, and makes external text safe to show on a terminal. */

/**
 * Controls, line and paragraph separators, lone surrogates, and what is not shown at all: bidirectional
 * controls, characters of no width, fillers, tags and variation selectors. A name with one of them looks like
 * another name.
 */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Default_Ignorable_Code_Point}\u2028\u2029]/gu

/** Escapes, as `\u001b`, characters that could start a line, control a terminal or misrepresent the text. */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE, escaped)
}

/** As JSON does: one or two UTF-16 code units. */
function escaped(character: string): string {
  const units = character.split('')
  return units.map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`).join('')
}

/** What a line says of a fault. */
export function messageOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause)
}

/** A request in a short form; other lines as their message and fields. */
export function readable(line: Record<string, unknown>, messageKey: string): string {
  const { level: _level, time: _time, pid: _pid, hostname: _hostname, [messageKey]: message, ...rest } = line
  return printable(
    message === 'request' ? request(rest) : [message, ...Object.entries(rest).map(field)].join('  '),
  )
}

function request(line: Record<string, unknown>): string {
  const { method, path, status, code, user, tenant, space, duration_ms: duration, cause } = line
  const caller =
    user === undefined ? '' : `  ${user} of ${tenant}${space === undefined ? '' : ` in ${space}`}`
  const request = method === undefined ? 'unreadable' : `${method} ${path}`
  return `${status} ${code}  ${request}${caller}  ${duration ?? 0} ms${cause === undefined ? '' : `  (${cause})`}`
}

function field([name, value]: [string, unknown]): string {
  return `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`
}
