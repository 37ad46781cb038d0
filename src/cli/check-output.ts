/** The result of `check`: as text, JSON, annotations of GitHub Actions, and SARIF. */

import { type Fault, formatFault, ONLINE_FAULTS, type Warning, WARNINGS } from '../config/faults.ts'
import { githubAnnotation } from './github.ts'
import { groupsOnScreen } from './groups.ts'
import { onOneLine } from './screen.ts'

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

/** An issuer that is asked by a proxy, without the credentials of the proxy. */
export interface ProviderProxyUse {
  readonly tenant: string
  readonly issuer: string
  /** `http://proxy.example:3128` */
  readonly proxy: string
  /** The environment variable that names it. */
  readonly variable: string
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
  readonly proxies: readonly ProviderProxyUse[]
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
  const fine = (checked.observed ?? []).flatMap(observedLine)
  const summary = summaryOf(checked)
  if (format === 'github') {
    const warned = warnings.map(({ place, message }) => githubAnnotation('warning', place, message))
    const wrong = faults.map(({ place, message }) => githubAnnotation('error', place, message))
    // Annotations are data, which GitHub reads from either output.
    return { out: [...warned, ...fine, ...wrong, summary].join('\n'), err: '' }
  }
  const warned = warningLines(warnings)
  // What decides stands where the eye is: at the end.
  if (faults.length > 0)
    return { out: '', err: [...warned, ...fine, ...faults.map(faultLine), summary].join('\n') }
  const addresses = checked.providers.map(addressesLine)
  const proxies = checked.proxies.map(proxyLine)
  return { out: [...fine, ...addresses, ...proxies, summary].join('\n'), err: warned.join('\n') }
}

/** Warnings of one code that have lines of their own. */
const MOST_LINES = 10
const HINT =
  '--format json has all of them; a comment "# seatgate: accept CODE" before routes: accepts those of a table'

/** One line each; by group those of a code with many. */
function warningLines(warnings: readonly Warning[]): string[] {
  const byCode = [...Map.groupBy(warnings, ({ code }) => code)]
  const isMany = (found: readonly Warning[]) =>
    found.length > MOST_LINES && found.every(({ about }) => about !== undefined)
  const many = byCode.filter(([, found]) => isMany(found))
  const few = new Set(byCode.flatMap(([, found]) => (isMany(found) ? [] : found)))
  const lines = warnings.filter((each) => few.has(each)).map(warningLine)
  if (many.length === 0) return lines
  const sections = many.map(([code, found]) => ({
    title: `warning ${code}: ${WARNINGS[code]}`,
    items: found.map(({ place, about }) => ({
      group: about?.group ?? '',
      line: onOneLine(about?.subject ?? '', ` (${place.file}:${place.line})`, INDENT),
    })),
  }))
  // The summary comes behind them.
  return [...lines, groupsOnScreen(sections, [HINT], lines.length + 1)]
}

/** Of the lines of a group. */
const INDENT = 4

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

function proxyLine({ tenant, issuer, proxy, variable }: ProviderProxyUse): string {
  return `tenant ${tenant}: ${issuer} is asked by the proxy ${proxy} of ${variable}`
}

function summaryOf({ file, faults, warnings, routes, upstreams }: Checked): string {
  const warned = warnings.length === 0 ? '' : `, ${count(warnings.length, 'warning')}`
  if (faults.length > 0) return `${file}: ${count(faults.length, 'fault')}${warned}`
  return `${file}: no faults${warned} (${count(routes, 'route')}, ${count(upstreams, 'upstream')})`
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`
}

function asJson({ faults, warnings, observed, routes, upstreams, providers, proxies }: Checked): string {
  const found = ({ place, code, message }: CheckedFault) => ({ ...place, code, message })
  const online = observed?.map((each) => ({ ...found(each), level: each.level }))
  return JSON.stringify(
    {
      faults: faults.map(found),
      warnings: warnings.map(found),
      online,
      routes,
      upstreams,
      providers,
      proxies,
    },
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
