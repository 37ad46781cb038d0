/** `seatgate check`: loads the configuration as `start` does, and reports every fault at once. */

import type { Config, TenantConfig } from '../config/config.ts'
import { ConfigError } from '../config/faults.ts'
import { backchannelLogoutUri } from '../config/oidc-settings.ts'
import { proxyFor, proxyUrl } from '../config/provider-proxies.ts'
import { UsageError } from './arguments.ts'
import {
  type Checked,
  checkOutput,
  FORMATS,
  type ProviderAddresses,
  type ProviderProxyUse,
} from './check-output.ts'
import { defineCommand } from './command.ts'
import { loadWithTables } from './load-tables.ts'
import { CONFIG, formatOption } from './shared-options.ts'
import { packageRoot, versionOf } from './version.ts'

const WARNED = 3

export const check = defineCommand(
  {
    name: 'check',
    summary: 'Reports every fault in the configuration and its route tables as file:line:column: message.',
    details:
      'It loads them as `start` does. A warning points out something that is legal but may be unintentional. A comment `# seatgate: accept CODE` above the line accepts the warning; before `routes:` of a table, it accepts the code for the whole table.',
    options: {
      config: CONFIG,
      format: formatOption(FORMATS),
      strict: { description: 'exits with code 3 if there is a warning' },
      'no-env': {
        description:
          'ignores environment variables, and skips settings that need one or whose file is missing',
      },
      online: {
        description:
          'also checks the store, Redis, identity providers and targets, without changing any of them',
      },
    },
    exits: {
      0: 'there are no faults; there may be warnings',
      1: 'there are faults; with --online, also if the store, Redis, an identity provider or a target cannot be used',
      3: 'with --strict: there is a warning',
    },
    example: 'seatgate check --config my/gateway.config.yaml --strict',
  },
  async ({ values }, terminal) => {
    if (values.online && values['no-env'])
      throw new UsageError('--online and --no-env exclude each other: the addresses may be variables')
    const env = values['no-env'] ? null : terminal.env
    const checked = await checkedFile(values.config, env, values.online === true)
    const { out, err } = checkOutput(values.format, checked, versionOf(packageRoot()))
    if (values.online && checked.observed === null && values.format === 'text')
      terminal.printError(`${values.config}: nothing was asked, as the configuration has faults`)
    if (err !== '') terminal.printError(err)
    if (out !== '') await terminal.print(out)
    // A look-up of a name may still be in flight, and would keep the process alive.
    if (values.online) terminal.abandonOutput()
    if (checked.faults.length > 0) return 1
    return values.strict && checked.warnings.length > 0 ? WARNED : 0
  },
)

async function checkedFile(file: string, env: NodeJS.ProcessEnv | null, online: boolean): Promise<Checked> {
  try {
    const { config, table, warnings, accepts } = await loadWithTables(file, env)
    const routes = table.routes.filter(({ place }) => place !== null).length
    const providers = [...config.tenants.values()].flatMap((tenant) =>
      addressesOf(tenant, config.api.authPrefix),
    )
    const proxies = proxiesOf(config)
    const counts = { file, routes, upstreams: config.upstreams.size, providers, proxies }
    if (!online) return { ...counts, faults: [], warnings, observed: null }
    // The clients of databases and providers take a fifth of a second to load.
    const { observe } = await import('../runtime/surroundings/online.ts')
    const observations = await observe(config)
    const found = observations.filter((each) => each.level === 'ok' || !accepts(each))
    return {
      ...counts,
      faults: found.filter(({ level }) => level === 'fault'),
      warnings: [...warnings, ...found.filter((each) => each.level === 'warning')],
      observed: observations.map((each) => (found.includes(each) ? each : { ...each, level: 'accepted' })),
    }
  } catch (cause) {
    if (!(cause instanceof ConfigError)) throw cause
    return {
      file,
      faults: cause.faults,
      warnings: [],
      observed: null,
      routes: 0,
      upstreams: 0,
      providers: [],
      proxies: [],
    }
  }
}

/** The issuers that are asked by a proxy. */
function proxiesOf({ tenants, providerProxies }: Config): ProviderProxyUse[] {
  return [...tenants.values()].flatMap(({ id, oidc, issuers = [] }) =>
    [...(oidc === null ? [] : [oidc]), ...issuers].flatMap(({ issuer }) => {
      const proxy = proxyFor(new URL(issuer), providerProxies)
      return proxy === null ? [] : [{ tenant: id, issuer, proxy: proxyUrl(proxy), variable: proxy.variable }]
    }),
  )
}

function addressesOf({ id, oidc }: TenantConfig, prefix: string): ProviderAddresses[] {
  const logout = oidc === null ? null : backchannelLogoutUri(oidc, id, prefix)
  if (oidc === null || logout === null) return []
  return [{ tenant: id, redirect_uri: oidc.redirectUri, backchannel_logout_uri: logout }]
}
