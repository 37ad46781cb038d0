/** `seatgate check`: loads the configuration as `start` does, and reports every fault at once. */

import type { Config } from '../config/config.ts'
import {
  ConfigError,
  type Fault,
  formatFault,
  ONLINE_FAULTS,
  type Warning,
  WARNINGS,
} from '../config/faults.ts'
import { backchannelLogoutUri, signalUris } from '../config/oidc-settings.ts'
import { publicKeys } from '../config/provider-keys.ts'
import { packageRoot, versionOf } from '../config/package-version.ts'
import { proxyFor, proxyUrl } from '../config/provider-proxies.ts'
import { CONFIG, formatOption, UsageError } from './arguments.ts'
import { githubAnnotation } from './ci-output.ts'
import { defineCommand, type Terminal } from './command.ts'
import { type Loaded, loadWithTables } from './load-tables.ts'
import { loadDecidingTables, TABLES_OPERAND, versionOfOperand } from './deciding-tables.ts'
import { plural, groupsOnScreen, onOneLine } from './screen.ts'

const FORMATS = ['text', 'json', 'github', 'sarif'] as const
const WARNED = 3

export const check = defineCommand({
  name: 'check',
  summary: 'Reports every fault in the configuration and its route tables as file:line:column: message.',
  details:
    'It loads them as `start` does, with `tables: store` from the store. A warning points out something that is legal but may be unintentional. A comment `# seatgate: accept CODE` above the line accepts the warning; before `routes:` of a table, it accepts the code for the whole table.',
  positionals: [TABLES_OPERAND],
  options: {
    config: CONFIG,
    format: formatOption(FORMATS),
    strict: { description: 'exits with code 3 if there is a warning' },
    'no-env': {
      description: 'ignores environment variables, and skips settings that need one or whose file is missing',
    },
    hash: {
      description:
        'prints only the content hash of the route tables, for fleet --wait; faults and warnings go to standard error',
    },
    online: {
      description:
        'also checks the store, Redis, identity providers, targets and the lists of MCP servers, without changing any of them',
    },
  },
  exits: {
    0: 'there are no faults; there may be warnings',
    1: 'there are faults; with --online, also if the store, Redis, an identity provider or a target cannot be used',
    3: 'with --strict: there is a warning',
  },
  example: 'seatgate check --config my/gateway.config.yaml --strict',
  run: async ({ values, positionals: [operand] }, terminal) => {
    const version = versionOfOperand(operand)
    if (version !== undefined && values['no-env'])
      throw new UsageError(
        '--no-env and TABLES exclude each other: the address of the store may be a variable',
      )
    if (values.online && values['no-env'])
      throw new UsageError('--online and --no-env exclude each other: the addresses may be variables')
    if (values.hash && (values.online || values.format !== 'text'))
      throw new UsageError('--hash excludes --online and --format')
    const load = () =>
      values['no-env']
        ? mainFile(values.config, terminal)
        : loadDecidingTables(values.config, terminal, { version })
    const checked = await checkedFile(values.config, load, values.online === true)
    const { out, err } = checkOutput(values.format, checked, versionOf(packageRoot()))
    if (values.online && checked.observed === null && values.format === 'text')
      terminal.printError(`${values.config}: nothing was asked, as the configuration has faults`)
    if (err !== '') terminal.printError(err)
    if (values.hash && checked.hash !== null) await terminal.print(checked.hash)
    if (!values.hash && out !== '') await terminal.print(out)
    // A look-up of a name may still be in flight, and would keep the process alive.
    if (values.online) terminal.abandonOutput()
    if (checked.faults.length > 0) return 1
    return values.strict && checked.warnings.length > 0 ? WARNED : 0
  },
})

/** Without variables, the store cannot be found. */
async function mainFile(file: string, terminal: Terminal): Promise<Loaded> {
  const loaded = await loadWithTables(file, null)
  if (loaded.config.tables.from === 'store')
    terminal.printError('note: the route tables are in the store, and are not checked with --no-env')
  return loaded
}

async function checkedFile(file: string, load: () => Promise<Loaded>, online: boolean): Promise<Checked> {
  try {
    const { config, table, warnings, accepts } = await load()
    const routes = table.routes.filter(({ place }) => place !== null).length
    const [providers, proxies] = [registrationsOf(config), proxiesOf(config)]
    const { hash } = config
    const counts = { file, hash, routes, upstreams: config.upstreams.size, providers, proxies }
    if (!online) return { ...counts, faults: [], warnings, observed: null }
    // The clients of databases and providers take a fifth of a second to load.
    const { observe } = await import('../runtime/surroundings/online.ts')
    const { observeServers } = await import('../access/mcp-drift.ts')
    const observations = [
      ...(await observe(config)),
      ...(await observeServers(table.servers, config.upstreams)),
    ]
    const findings = observations.filter((each) => each.level === 'ok' || !accepts(each))
    return {
      ...counts,
      faults: findings.filter(({ level }) => level === 'fault'),
      warnings: [...warnings, ...findings.filter((each) => each.level === 'warning')],
      observed: observations.map((each) => (findings.includes(each) ? each : { ...each, level: 'accepted' })),
    }
  } catch (cause) {
    if (!(cause instanceof ConfigError)) throw cause
    const nothing = { hash: null, observed: null, routes: 0, upstreams: 0, providers: [], proxies: [] }
    return { file, faults: cause.faults, warnings: [], ...nothing }
  }
}

/** The issuers that are reached through a proxy, without its credentials, and the variable that names it. */
function proxiesOf({ tenants, providerProxies }: Config) {
  return [...tenants.values()].flatMap(({ id, oidc, issuers = [] }) =>
    [...(oidc === null ? [] : [oidc]), ...issuers].flatMap(({ issuer }) => {
      const proxy = proxyFor(new URL(issuer), providerProxies)
      return proxy === null ? [] : [{ tenant: id, issuer, proxy: proxyUrl(proxy), variable: proxy.variable }]
    }),
  )
}

/** The addresses and the public keys to register at the identity provider of each tenant. */
function registrationsOf({ tenants, api: { authPrefix } }: Config) {
  return [...tenants.values()].flatMap(({ id, oidc }) => {
    const logout = oidc === null ? null : backchannelLogoutUri(oidc, id, authPrefix)
    if (oidc === null || logout === null) return []
    const addresses = { tenant: id, redirect_uri: oidc.redirectUri, backchannel_logout_uri: logout }
    const keys = publicKeys(oidc)
    const uris = signalUris(oidc, id, authPrefix)
    return [
      {
        ...addresses,
        // JSON leaves out what is undefined.
        global_token_revocation_uri: oidc.revocation ? uris.revocation : undefined,
        events_uri: oidc.events === null ? undefined : uris.events,
        jwks: keys.length === 0 ? undefined : { keys },
      },
    ]
  })
}

function registrationLines({
  tenant,
  redirect_uri,
  backchannel_logout_uri,
  global_token_revocation_uri,
  events_uri,
  jwks,
}: ReturnType<typeof registrationsOf>[number]): string[] {
  const register = `tenant ${tenant}: to register at its provider:`
  const addresses = [
    `redirect URI ${redirect_uri}`,
    `back-channel logout URI ${backchannel_logout_uri}`,
    ...(global_token_revocation_uri === undefined
      ? []
      : [`global token revocation URI ${global_token_revocation_uri}`]),
    ...(events_uri === undefined ? [] : [`URI for events ${events_uri}`]),
  ]
  const keys = jwks === undefined ? [] : [`public keys ${JSON.stringify(jwks)}`]
  return [`${register} ${addresses.join(', ')}`, ...keys.map((each) => `${register} ${each}`)]
}

/** A fault; it has a code if a comment can accept it. */
type CheckedFault = Fault & { readonly code?: string }

type Observed = CheckedFault & { readonly level: 'ok' | 'warning' | 'fault' | 'accepted' }

interface Checked {
  /** The configuration file, as the user wrote it. */
  readonly file: string
  /** The content hash of the tables; null: there are faults. */
  readonly hash: string | null
  readonly faults: readonly CheckedFault[]
  readonly warnings: readonly Warning[]
  /** The result of each check with `--online`; null without that option. */
  readonly observed: readonly Observed[] | null
  /** The number of routes, without those of the gateway itself. */
  readonly routes: number
  readonly upstreams: number
  readonly providers: ReturnType<typeof registrationsOf>
  readonly proxies: ReturnType<typeof proxiesOf>
}

/** The texts for standard output, which has the data, and standard error. @param version of the program */
function checkOutput(
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
  // The summary comes last, next to the prompt.
  if (faults.length > 0)
    return { out: '', err: [...warned, ...fine, ...faults.map(faultLine), summary].join('\n') }
  const registrations = checked.providers.flatMap(registrationLines)
  const proxies = checked.proxies.map(
    ({ tenant, issuer, proxy, variable }) =>
      `tenant ${tenant}: ${issuer} is asked by the proxy ${proxy} of ${variable}`,
  )
  return { out: [...fine, ...registrations, ...proxies, summary].join('\n'), err: warned.join('\n') }
}

/** The most warnings of one code with a line each. */
const MOST_LINES = 10
const HINT =
  '--format json has all of them; a comment "# seatgate: accept CODE" before routes: accepts those of a table'

/** A line for each warning; many warnings of one code are grouped. */
function warningLines(warnings: readonly Warning[]): string[] {
  const byCode = [...Map.groupBy(warnings, ({ code }) => code)]
  const isMany = (some: readonly Warning[]) =>
    some.length > MOST_LINES && some.every(({ about }) => about !== undefined)
  const many = byCode.filter(([, some]) => isMany(some))
  const few = new Set(byCode.flatMap(([, some]) => (isMany(some) ? [] : some)))
  const lines = warnings.filter((each) => few.has(each)).map(warningLine)
  if (many.length === 0) return lines
  const sections = many.map(([code, some]) => ({
    title: `warning ${code}: ${WARNINGS[code]}`,
    items: some.map(({ place, about }) => ({
      group: about?.group ?? '',
      line: onOneLine(about?.subject ?? '', ` (${place.file}:${place.line})`, INDENT),
    })),
  }))
  // The summary follows the groups.
  return [...lines, groupsOnScreen(sections, [HINT], lines.length + 1)]
}

/** The indentation of the lines of a group. */
const INDENT = 4

function faultLine({ place, code, message }: CheckedFault): string {
  return formatFault({ place, message: code === undefined ? message : `${message} [${code}]` })
}

function warningLine({ place, code, message }: Warning): string {
  return formatFault({ place, message: `warning: ${message} [${code}]` })
}

/** A line for what is in order or accepted. Faults and warnings have lines of their own. */
function observedLine({ place, level, code, message }: Observed): string[] {
  if (level === 'ok') return [formatFault({ place, message: `ok: ${message}` })]
  return level === 'accepted' ? [formatFault({ place, message: `accepted: ${message} [${code}]` })] : []
}

function summaryOf({ file, faults, warnings, routes, upstreams }: Checked): string {
  const warned = warnings.length === 0 ? '' : `, ${plural(warnings.length, 'warning')}`
  if (faults.length > 0) return `${file}: ${plural(faults.length, 'fault')}${warned}`
  return `${file}: no faults${warned} (${plural(routes, 'route')}, ${plural(upstreams, 'upstream')})`
}

function asJson({ faults, warnings, observed, routes, upstreams, providers, proxies }: Checked): string {
  const view = ({ place, code, message }: CheckedFault) => ({ ...place, code, message })
  const online = observed?.map((each) => ({ ...view(each), level: each.level }))
  const [faulty, warned] = [faults.map(view), warnings.map(view)]
  const all = { faults: faulty, warnings: warned, online, routes, upstreams, providers, proxies }
  return JSON.stringify(all, null, 2)
}

const FAULT = 'configuration_fault'
const FAULT_MEANING = 'the gateway does not start with it'

/** The report in the Static Analysis Results Interchange Format 2.1.0. */
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
