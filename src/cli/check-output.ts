/** The result of `check`: as text, JSON, annotations of GitHub Actions, and SARIF. */

import { type Fault, formatFault, ONLINE_FAULTS, type Warning, WARNINGS } from '../config/faults.ts'
import { githubAnnotation } from './github.ts'

export const FORMATS = ['text', 'json', 'github', 'sarif'] as const

/** With a code where a comment can accept it. */
type CheckedFault = Fault & { readonly code?: string }

export type Observed = CheckedFault & { readonly level: 'ok' | 'warning' | 'fault' | 'accepted' }
/** The addresses to register at a tenant's identity provider. */
export interface ProviderAddresses {
  readonly tenant: string
  readonly redirect_uri: string
  readonly backchannel_logout_uri: string
}

export interface Checked {
  /** The configuration file, as it was given. */
  readonly file: string
  readonly faults: readonly CheckedFault[]
  readonly warnings: readonly Warning[]
  /** Everything that was asked; null: nothing was. */
  readonly observed: readonly Observed[] | null
  /** Without those of the gateway itself. */
  readonly routes: number
  readonly upstreams: number
  readonly providers: readonly ProviderAddresses[]
}

/** Data goes to standard output. @param version of the program */
export function checkOutput(
  format: (typeof FORMATS)[number],
  checked: Checked,
  version: string,
): { out: string; err: string } {
  if (format === 'json') return { out: asJson(checked), err: '' }
  if (format === 'sarif') return { out: asSarif(checked, version), err: '' }
  const { faults, warnings } = checked
  const lines =
    format === 'github'
      ? [
          ...faults.map(({ place, message }) => githubAnnotation('error', place, message)),
          ...warnings.map(({ place, message }) => githubAnnotation('warning', place, message)),
        ]
      : [...faults.map(faultLine), ...warnings.map(warningLine)]
  const fine = (checked.observed ?? []).flatMap(observedLine)
  // Annotations are data, which GitHub reads from either output.
  if (format === 'github') return { out: [...lines, ...fine, summaryOf(checked)].join('\n'), err: '' }
  if (faults.length > 0) return { out: '', err: [...lines, ...fine].join('\n') }
  const addresses = checked.providers.map(addressesLine)
  return { out: [...fine, ...addresses, summaryOf(checked)].join('\n'), err: lines.join('\n') }
}

function faultLine({ place, code, message }: CheckedFault): string {
  return formatFault({ place, message: code === undefined ? message : `${message} [${code}]` })
}

function warningLine({ place, code, message }: Warning): string {
  return formatFault({ place, message: `warning: ${message} [${code}]` })
}

/** Faults and warnings have lines of their own. */
function observedLine({ place, level, code, message }: Observed): string[] {
  if (level === 'ok') return [formatFault({ place, message: `ok: ${message}` })]
  return level === 'accepted' ? [formatFault({ place, message: `accepted: ${message} [${code}]` })] : []
}

function addressesLine({ tenant, redirect_uri, backchannel_logout_uri }: ProviderAddresses): string {
  return `tenant ${tenant}: to register at its provider: redirect URI ${redirect_uri}, back-channel logout URI ${backchannel_logout_uri}`
}

function summaryOf({ file, faults, warnings, routes, upstreams }: Checked): string {
  if (faults.length > 0) return `${file}: ${count(faults.length, 'fault')}`
  const warned = warnings.length === 0 ? '' : `, ${count(warnings.length, 'warning')}`
  return `${file}: no faults${warned} (${count(routes, 'route')}, ${count(upstreams, 'upstream')})`
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`
}

function asJson({ faults, warnings, observed, routes, upstreams, providers }: Checked): string {
  const found = ({ place, code, message }: CheckedFault) => ({ ...place, code, message })
  const online = observed?.map((each) => ({ ...found(each), level: each.level }))
  return JSON.stringify(
    { faults: faults.map(found), warnings: warnings.map(found), online, routes, upstreams, providers },
    null,
    2,
  )
}

const FAULT = 'configuration_fault'
const FAULT_MEANING = 'the gateway does not start with it'

/** Static Analysis Results Interchange Format 2.1.0. */
function asSarif({ faults, warnings }: Checked, version: string): string {
  const rules = Object.entries({ [FAULT]: FAULT_MEANING, ...ONLINE_FAULTS, ...WARNINGS })
  const results = [
    ...faults.map((fault) => sarifResult('error', fault.code ?? FAULT, fault)),
    ...warnings.map((warning) => sarifResult('warning', warning.code, warning)),
  ]
  const driver = {
    name: 'Seatgate',
    version,
    rules: rules.map(([id, text]) => ({ id, shortDescription: { text } })),
  }
  const log = {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [{ tool: { driver }, results }],
  }
  return JSON.stringify(log, null, 2)
}

function sarifResult(level: 'error' | 'warning', ruleId: string, { place, message }: Fault) {
  const region = { startLine: place.line, startColumn: place.column }
  const physicalLocation = { artifactLocation: { uri: encodeURI(place.file) }, region }
  return { ruleId, level, message: { text: message }, locations: [{ physicalLocation }] }
}
