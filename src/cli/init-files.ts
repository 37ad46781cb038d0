/** The files that `seatgate init` writes. */

import { randomBytes } from 'node:crypto'

export interface NewProject {
  readonly tenant: string
  /** An origin, as the user wrote it. */
  readonly upstream: string
  /** Where editors find the JSON Schemas, relative to the configuration; null: in no place that stays. */
  readonly schemas: string | null
}

export interface NewFile {
  readonly name: string
  readonly text: string
  readonly mode: number
}

/** Less what the umask takes. */
const READABLE = 0o666
const PRIVATE = 0o600

/** In the order in which they are written: git ignores the secret before it is there. */
export function filesOf(project: NewProject): NewFile[] {
  return [
    { name: '.gitignore', text: GIT_IGNORE, mode: READABLE },
    { name: '.env', text: environment(project), mode: PRIVATE },
    { name: 'routes/example.yaml', text: routes(project), mode: READABLE },
    { name: 'gateway.config.yaml', text: configuration(project), mode: READABLE },
  ]
}

const GIT_IGNORE = `# Secrets, API keys, and the store.
.env
*.key
data/
`

function environment({ tenant }: NewProject): string {
  return `# Values of \${NAME} in gateway.config.yaml, where the environment does not set them. Never commit this file.
${variableOf(tenant)}=${randomBytes(32).toString('base64url')}
`
}

function configuration(project: NewProject): string {
  const { tenant, upstream } = project
  return `${schemaLine(project, 'gateway')}# The configuration of the gateway. \${NAME} comes from the environment, or else from .env beside this file.
# "seatgate check" finds its faults. A running gateway applies a change without faults at once, and no other.

listen: 127.0.0.1:8080 # the public listener; 0.0.0.0:8080 accepts connections from other machines
ops: 127.0.0.1:9090 # /livez /readyz /metrics: asks for no credential, so keep it on an inner network
store: sqlite:./data/seatgate.db # Seats and API keys; relative to this file
drain: 30s # time that requests in flight may take after SIGTERM

tenants: # the customers of your platform, by id: nothing crosses tenants
  ${keyOf(tenant)}:
    admin_space: admin # the permissions held in this space apply to every Seat and API key of the tenant
    token: # bearer tokens
      secrets: ["\${${variableOf(tenant)}}"] # the first signs, all verify; 32 bytes or more
      lifetime: 1h # how long a token is valid

upstreams: # the services behind the gateway, by the names that route tables use
  example:
    targets: ["${upstream}"] # scheme, host and port of each of its instances

routes: [routes/*.yaml] # the route tables, one a service
`
}

function routes(project: NewProject): string {
  return `${schemaLine(project, 'routes')}# METHOD /path: the permission that a request needs in its space. A request that no entry matches is not forwarded.
# These two entries suit any service. A more specific path takes precedence, so add those of your own, such as:
#
#   GET /v1/orders: orders:list
#   DELETE /v1/orders/{id}: orders:delete # {id}: one segment
#   GET /v1/me: authenticated # any valid credential, no space needed
#   GET /docs/*: public # no credential

upstream: example # the service that the requests are forwarded to
routes:
  GET /*: example:read # GET and HEAD of every path
  ANY /*: example:write # every other method
`
}

function schemaLine({ schemas }: NewProject, name: 'gateway' | 'routes'): string {
  if (schemas === null) return ''
  const from = name === 'routes' ? '../' : './'
  return `# yaml-language-server: $schema=${from}${schemas}/${name}.schema.json\n#\n`
}

/** YAML reads `7` and `null` as other than text. */
function keyOf(tenant: string): string {
  return /^(?:[0-9].*|null|true|false)$/.test(tenant) ? `"${tenant}"` : tenant
}

/** A name of an environment variable can't begin with a digit. */
function variableOf(tenant: string): string {
  const name = `${tenant.toUpperCase().replaceAll('-', '_')}_TOKEN_SECRET`
  return /^[0-9]/.test(name) ? `TENANT_${name}` : name
}
