/** The result of `check`: as text, JSON, annotations of GitHub Actions, and SARIF. */

import { type Fault, formatFault, type Warning, WARNINGS } from '../config/faults.ts'
import { githubAnnotation } from './github.ts'

export const FORMATS = ['text', 'json', 'github', 'sarif'] as const

export interface Checked {
  /** The configuration file, as it was given. */
  readonly file: string
  readonly faults: readonly Fault[]
  readonly warnings: readonly Warning[]
  /** Without those of the gateway itself. */
  readonly routes: number
  readonly upstreams: number
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
      : [...faults.map(formatFault), ...warnings.map(warningLine)]
  const text = lines.join('\n')
  // Annotations are data, which GitHub reads from either output.
  if (format === 'github')
    return { out: [text, summaryOf(checked)].filter((each) => each !== '').join('\n'), err: '' }
  return faults.length > 0 ? { out: '', err: text } : { out: summaryOf(checked), err: text }
}

function warningLine({ place, code, message }: Warning): string {
  return formatFault({ place, message: `warning: ${message} [${code}]` })
}

function summaryOf({ file, faults, warnings, routes, upstreams }: Checked): string {
  if (faults.length > 0) return `${file}: ${count(faults.length, 'fault')}`
  const warned = warnings.length === 0 ? '' : `, ${count(warnings.length, 'warning')}`
  return `${file}: no faults${warned} (${count(routes, 'route')}, ${count(upstreams, 'upstream')})`
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`
}

function asJson({ faults, warnings, routes, upstreams }: Checked): string {
  const plain = ({ place, ...more }: Fault) => ({ ...place, ...more })
  return JSON.stringify(
    { faults: faults.map(plain), warnings: warnings.map(plain), routes, upstreams },
    null,
    2,
  )
}

const FAULT = 'configuration_fault'

/** Static Analysis Results Interchange Format 2.1.0. */
function asSarif({ faults, warnings }: Checked, version: string): string {
  const rules = Object.entries({ [FAULT]: 'the gateway does not start with it', ...WARNINGS })
  const results = [
    ...faults.map((fault) => sarifResult('error', FAULT, fault)),
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
