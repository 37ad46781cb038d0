/** `space:` of a route table or of a route, and the ids of spaces. */

import { isSpaceId } from '../../seats-admin/model/space.ts'
import { isAddress } from '../model/host.ts'
import { SPACE_HEADER, type SpaceSource } from '../model/space-source.ts'
import { InvalidValue } from './invalid-value.ts'
import { headerName, isReservedField } from './reserved-fields.ts'
import type { Section } from './section.ts'
import { count, map, type Setting, text } from './setting.ts'

const PARAMETER = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/

export function spaceId(text: string): string | InvalidValue {
  return isSpaceId(text)
    ? text
    : new InvalidValue(
        'is not a space id: 1 to 128 letters, digits and . _ ~ -, beginning with a letter or digit',
      )
}

/** The source of the space of requests; null: its value has a fault. */
export function spaceSource(description: string): Setting<SpaceSource | null> {
  return map(
    description,
    {
      header: text('The value of this header.', headerSource, { examples: ['Space'] }),
      param: text('The segment that matches this parameter of the pattern.', paramSource, {
        examples: ['org'],
      }),
      fixed: text('Always this space.', fixedSource, { examples: ['main'] }),
      query: text('The value of this query parameter.', querySource, { examples: ['space'] }),
      hostLabel: count('This label of the host, counted from 1 on the left, in lowercase.', {
        minimum: 1,
        maximum: 127,
        examples: [1],
      }),
    },
    ({ header, param, fixed, query, hostLabel }, section) => {
      const label =
        hostLabel === null ? null : Object.freeze({ kind: 'host_label' as const, label: hostLabel })
      if (section.keys().length === 1) return header ?? param ?? fixed ?? query ?? label
      section.faultAtMap('space: must have exactly one of header, param, fixed, query, host_label')
      return null
    },
  )
}

function headerSource(text: string): SpaceSource | InvalidValue {
  const name = headerName(text)
  if (name instanceof InvalidValue) return name
  if (name === 'space') return SPACE_HEADER
  if (isReservedField(name)) return new InvalidValue('is reserved, or not forwarded: choose another header')
  return Object.freeze({ kind: 'header', name })
}

function paramSource(name: string): SpaceSource | InvalidValue {
  return PARAMETER.test(name)
    ? Object.freeze({ kind: 'param', name })
    : new InvalidValue('is not the name of a parameter, without { and }')
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
 * Reports hosts without the label that the space is read from, because each request to them would be refused
 * with `space_required`. It is a fault if no host of the table has the label, and otherwise a warning.
 *
 * @param parent the section with the key `space`
 * @param hosts the canonical hosts of the table
 */
export function checkLabel(parent: Section, source: SpaceSource | null, hosts: readonly string[]): void {
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

/** The number of labels of a host, including the `*` of a wildcard. */
function labelsOf(host: string): number {
  return isAddress(host) ? 0 : host.split('.').length
}
