/** Faults of Redis. The gateway goes on without it, and says so every half minute. */

import t from 'tap'
import { reservePort } from '../../support/servers/ports.ts'
import { startRedis } from '../../support/servers/redis.ts'
import { CERTIFICATES } from '../../support/servers/tls.ts'
import { logs, PASSWORD } from './support.ts'

const AT = 'gateway.config.yaml:7:8: redis:'
const SETTING = '${REDIS}'

const [open, locked, tls, mutual, full] = await Promise.all([
  startRedis(t),
  startRedis(t, { password: `${PASSWORD}-right` }),
  startRedis(t, { tls: 'server' }),
  startRedis(t, { tls: 'mutual' }),
  startRedis(t, { config: ['maxmemory 1'] }),
])
const down = await reservePort(t)

const cases: { fault: string; url: string; message: string | RegExp }[] = [
  {
    fault: 'down',
    url: `redis://127.0.0.1:${down}`,
    message: `${AT} Redis at 127.0.0.1:${down} refused the connection (ECONNREFUSED). Start Redis, or correct host and port in ${SETTING}.`,
  },
  {
    fault: 'a wrong password',
    url: `redis://:${PASSWORD}@127.0.0.1:${locked.port}`,
    message: `${AT} Redis at 127.0.0.1:${locked.port} refused the password (WRONGPASS). Check user and password in ${SETTING}.`,
  },
  {
    fault: 'a wrong user',
    url: `redis://gate:${PASSWORD}@127.0.0.1:${locked.port}`,
    message: `${AT} Redis at 127.0.0.1:${locked.port} refused user gate or the password (WRONGPASS). Check user and password in ${SETTING}.`,
  },
  {
    fault: 'no password',
    url: `redis://127.0.0.1:${locked.port}`,
    message: `${AT} Redis at 127.0.0.1:${locked.port} requires a password, and none is given (NOAUTH). Add it in ${SETTING}: redis://:PASSWORD@HOST:PORT.`,
  },
  {
    fault: 'a full memory',
    url: full.url,
    message: /redis: the memory of Redis at \S+ is full \(OOM .*, in reply to SET\)\. Raise maxmemory/,
  },
  {
    fault: 'TLS to a server without',
    url: `rediss://127.0.0.1:${open.port}`,
    message:
      /redis: Redis at \S+ does not answer the TLS handshake \(\w+\)\. Write redis:\/\/ in place of rediss:\/\/ in \$\{REDIS\} if this server speaks no TLS on that port, or name its TLS port\.$/,
  },
  {
    fault: 'no TLS to a server that requires it',
    url: `redis://127.0.0.1:${tls.port}`,
    message: `${AT} Redis at 127.0.0.1:${tls.port} closed the connection without a reply. Write rediss:// in place of redis:// in ${SETTING} if this server requires TLS, or check that it is a Redis.`,
  },
  {
    fault: 'a certificate of an unknown authority',
    url: `rediss://127.0.0.1:${tls.port}`,
    message: `${AT} the certificate of Redis at 127.0.0.1:${tls.port} is not from an authority that this gateway knows (SELF_SIGNED_CERT_IN_CHAIN). Name a file with the authority's certificate as ca in ${SETTING}.`,
  },
  {
    fault: 'no client certificate',
    url: `rediss://127.0.0.1:${mutual.port}?ca=${CERTIFICATES.files.ca}`,
    // Where Redis closes the connection before its alert is read, the alert is lost.
    message:
      /redis: Redis at 127\.0\.0\.1:\d+ (?:requires a client certificate, and none is given\. Name certificate and key in|closed the connection after the TLS handshake\. Name a client certificate, cert and key, in) \$\{REDIS\}/,
  },
]

for (const { fault, url, message } of cases)
  t.test(fault, async (t) => {
    const attempt = { fault, about: 'redis', more: 'redis: ${REDIS}\n', env: { REDIS: url }, message }
    await logs(t, attempt, 'cause')
  })
