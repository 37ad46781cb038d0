/** Reads the id of a space, and `space:` of a route table or of a route. */

import { isSpaceId } from '../../seats-admin/model/space.ts'
import { isAddress } from '../model/host.ts'
import { SPACE_HEADER, type SpaceSource } from '../model/space-source.ts'
import { didYouMeanOneOf, InvalidValue } from './invalid-value.ts'
import { headerName, isReservedField } from './reserved-fields.ts'
import type { Section } from './section.ts'

const PARAMETER = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/

export function spaceId(text: string): string | InvalidValue {
  return isSpaceId(text)
    ? text
    : new InvalidValue(
        'is not a space id: 1 to 128 letters, digits and . _ ~ -, beginning with a letter or digit',
      )
}

/** Undefined: there is none, or it is faulty. @param params of the pattern; null: of a whole table, so not yet known */
export function buildSpaceSource(
  parent: Section,
  params: ReadonlySet<string> | null,
): SpaceSource | undefined {
  if (!parent.has('space')) return undefined
  const section = parent.section('space')
  if (section.keys().length !== 1) {
    if (parent.value('space') !== undefined)
      parent.fault('space', 'space: must have exactly one of header, param, fixed, query, host_label')
    return undefined
  }
  const label = section.number('host_label')
  return (
    section.text('header', headerSource) ??
    section.text('param', (text) => paramSource(text, params)) ??
    section.text('fixed', fixedSource) ??
    section.text('query', querySource) ??
    (label === undefined ? undefined : Object.freeze({ kind: 'host_label', label }))
  )
}

function headerSource(text: string): SpaceSource | InvalidValue {
  const name = headerName(text)
  if (name instanceof InvalidValue) return name
  if (name === 'space') return SPACE_HEADER
  if (isReservedField(name)) return new InvalidValue('is reserved, or not forwarded: choose another header')
  return Object.freeze({ kind: 'header', name })
}

function paramSource(name: string, params: ReadonlySet<string> | null): SpaceSource | InvalidValue {
  if (!PARAMETER.test(name)) return new InvalidValue('is not the name of a parameter, without { and }')
  if (params !== null && !params.has(name))
    return new InvalidValue(`is not a parameter of the pattern${didYouMeanOneOf(name, params)}`)
  return Object.freeze({ kind: 'param', name })
}

function fixedSource(text: string): SpaceSource | InvalidValue {
  const space = spaceId(text)
  return space instanceof InvalidValue ? space : Object.freeze({ kind: 'fixed', space })
}

function querySource(name: string): SpaceSource | InvalidValue {
  if (!PARAMETER.test(name))
    return new InvalidValue('is not the name of a query parameter of at most 64 letters, digits, _ and -')
  return Object.freeze({ kind: 'query', name })
}

/**
 * Hosts without the label that the space is read from: each request to them would be `space_required`. A fault where no host of
 * the table has it, and else a warning.
 *
 * @param parent has the key `space` of this source
 * @param hosts canonical, of the table
 */
export function checkLabel(parent: Section, source: SpaceSource | undefined, hosts: readonly string[]): void {
  if (source?.kind !== 'host_label') return
  const without = hosts.filter((host) => labelsOf(host) < source.label)
  const [host] = without
  if (host === undefined) return
  const has = isAddress(host) ? 'an address has none' : `it has ${labelsOf(host)}`
  const message = `host_label: ${host} has no label ${source.label} (${has}), so its requests name no space: correct the number, or give its routes another space`
  const section = parent.section('space')
  if (without.length === hosts.length) section.fault('host_label', message)
  else section.warn('host_label', 'space_unreachable', message)
}

/** With the `*` of a wildcard. */
function labelsOf(host: string): number {
  return isAddress(host) ? 0 : host.split('.').length
}
