/**
 * Apache with mod_proxy, MPM event, in one process; and with mod_auth_openidc, which verifies the token by
 * itself, if that is installed.
 */

import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { peerCores, which } from '../cores.ts'
import { Program } from '../program.ts'
import { reservePort } from '../../test/support/servers/ports.ts'
import { SPACE } from '../names.ts'
import { runningOf } from './node-program.ts'
import type { Peer, Setup } from './peer.ts'

const MODULES = '/usr/lib/apache2/modules'

export const apache: Peer = {
  name: 'apache',
  label: 'Apache, mod_proxy',
  authorises: false,
  available,
  start: startWith(() => ''),
}

export const apacheOpenidc: Peer = {
  name: 'apache-openidc',
  label: 'Apache, mod_auth_openidc',
  authorises: true,
  available: () =>
    available() ??
    (existsSync(`${MODULES}/mod_auth_openidc.so`)
      ? null
      : 'not installed: apt-get install libapache2-mod-auth-openidc'),
  start: startWith(({ world }) => openidc(world.secret)),
}

function available(): string | null {
  return program() === null ? 'not installed: apt-get install apache2' : null
}

function program(): string | null {
  return existsSync(`${MODULES}/mod_proxy_http.so`) ? (which('apache2') ?? which('httpd')) : null
}

/** @param rules lines of the configuration for what authorises */
function startWith(rules: (setup: Setup) => string): Peer['start'] {
  return async (setup, ending) => {
    const { folder, workers } = setup
    const port = await reservePort(ending.t)
    const file = join(folder, 'apache.conf')
    writeFileSync(file, configuration(setup, port, rules(setup)), { mode: 0o600 })
    const command = [program() ?? 'apache2', '-f', file, '-DFOREGROUND']
    return runningOf([await Program.start(ending, { command, port, cores: peerCores(workers), folder })])
  }
}

function configuration({ folder, upstream }: Setup, port: number, rules: string): string {
  const names = [
    'mpm_event',
    'unixd',
    'authz_core',
    'authn_core',
    'log_config',
    'headers',
    'proxy',
    'proxy_http',
  ]
  const secure = ['socache_shmcb', 'ssl']
  const built = new Set(['unixd', 'log_config'])
  const modules = [...names, ...(upstream.ca === null ? [] : secure)]
    .filter((name) => !built.has(name) || existsSync(`${MODULES}/mod_${name}.so`))
    .map((name) => `LoadModule ${name}_module ${MODULES}/mod_${name}.so`)
  return `${modules.join('\n')}
ServerRoot ${folder}
ServerName localhost
PidFile ${folder}/apache.pid
DefaultRuntimeDir ${folder}
User nobody
Listen 127.0.0.1:${port}
ListenBacklog 4096
ServerLimit 1
StartServers 1
ThreadsPerChild 150
ThreadLimit 150
MaxRequestWorkers 150
MinSpareThreads 1
MaxSpareThreads 150
KeepAlive On
MaxKeepAliveRequests 0
KeepAliveTimeout 75
ErrorLog ${folder}/error.log
LogLevel error
LogFormat "%h %l %u %t \\"%r\\" %>s %b \\"%{Referer}i\\" \\"%{User-Agent}i\\"" combined
CustomLog ${folder}/access.log combined
BufferedLogs On
ProxyRequests Off
${upstream.ca === null ? '' : `SSLProxyEngine on\nSSLProxyVerify require\nSSLProxyCACertificateFile ${upstream.ca}`}
${rules}
ProxyPass / ${upstream.origin}/ keepalive=On max=150 ttl=60
`
}

function openidc(secret: string): string {
  return `LoadModule auth_openidc_module ${MODULES}/mod_auth_openidc.so
OIDCCryptoPassphrase ${secret}
OIDCOAuthVerifySharedKeys plain##${secret}
OIDCOAuthRemoteUserClaim sub
<Location />
  AuthType oauth20
  AuthzSendForbiddenOnFailure On
  Require claim "hash_perm~^${SPACE}:"
  RequestHeader set X-User "expr=%{REMOTE_USER}"
  RequestHeader unset Authorization
</Location>`
}
