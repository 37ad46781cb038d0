/** Connections of HTTP/2 that a tenant shares with the attacker: to a service, and of a proxy in front of the gateway. */

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { loadCores, which } from '../cores.ts'
import { freePort, Program } from '../program.ts'
import { nginxCommand, nginxConfiguration } from '../upstreams.ts'

const SERVICE = fileURLToPath(new URL('../servers/http2-service.ts', import.meta.url))

/** The address of the proxy, by which the gateway knows it. */
export const PROXY_ADDRESS = '127.0.0.3'

export interface SharedServices {
  /** Origins of h2c. */
  readonly shared: string
  readonly large: string
  stop(): Promise<void>
}

/** Node.js, and nginx where it is installed. */
export async function startServices(folder: string): Promise<SharedServices> {
  const [port, nginxPort] = [await freePort(), await freePort()]
  const cores = loadCores(1)
  const service = await Program.start({
    command: [process.execPath, SERVICE, `${port}`],
    port,
    cores,
    folder,
  })
  const program = which('nginx')
  const shared = `http://127.0.0.1:${port}`
  if (program === null) return { shared, large: shared, stop: () => service.stop() }
  const file = join(folder, 'nginx-h2c.conf')
  const server = `server { listen 127.0.0.1:${nginxPort} http2; access_log off; location / { return 200 ok; } }`
  writeFileSync(file, nginxConfiguration(folder, 1, server))
  const nginx = await Program.start({ command: nginxCommand(program, file), port: nginxPort, cores, folder })
  return {
    shared,
    large: `http://127.0.0.1:${nginxPort}`,
    stop: async () => {
      await service.stop()
      await nginx.stop()
    },
  }
}

/** HAProxy, which shares its connections to the gateway among clients. @param gateway a port with TLS and HTTP/2 */
export async function startProxy(folder: string, gateway: number): Promise<Program> {
  const port = await freePort()
  const file = join(folder, 'haproxy.cfg')
  writeFileSync(
    file,
    `global
  nbthread 1
defaults
  mode http
  timeout connect 5s
  timeout client 60s
  timeout server 60s
  option abortonclose
frontend clients
  bind 127.0.0.1:${port}
  default_backend gateway
backend gateway
  option forwardfor
  http-reuse always
  server one 127.0.0.1:${gateway} ssl verify none alpn h2 source ${PROXY_ADDRESS}
`,
  )
  const command = [which('haproxy') ?? 'haproxy', '-db', '-f', file]
  return Program.start({ command, port, cores: loadCores(1), folder })
}
