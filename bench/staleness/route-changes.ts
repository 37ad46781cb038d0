/**
 * A route that is opened and closed: by a push to three instances of Seatgate, and by what one nginx, one HAProxy
 * and one Caddy have for it. A write is answered once the command or the request has succeeded.
 */

import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { startFleet } from '../../test/fleet/fleet.ts'
import { findProgram } from '../../test/support/servers/binaries.ts'
import { reservePort } from '../../test/support/servers/ports.ts'
import { Pusher } from '../../test/tables/pushing.ts'
import { Program } from '../program.ts'
import { GATE, routeFiles } from '../pushes/route-files.ts'
import { nginxCommand, nginxConfiguration } from '../upstreams.ts'
import { change, placeAt, type RunningStalenessPeer, type StalenessPeer } from './staleness-peer.ts'

/** Routes of the tables of Seatgate. */
const ROUTES = 10

const seatgate: StalenessPeer = {
  name: 'seatgate-tables',
  label: 'Seatgate, tables in the store',
  configuration: `three instances, PostgreSQL and Redis, default settings; PUT /v1/tables with ${ROUTES} routes`,
  every: 2,
  async start(ending): Promise<RunningStalenessPeer> {
    const fleet = await startFleet(ending.t, { proxies: [], postgres: { fsync: true }, tablesFrom: 'store' })
    const pusher = new Pusher(fleet.first.port, fleet.key)
    ending.teardown(() => pusher.close())
    return {
      places: fleet.gateways.map(({ port }) => placeAt(ending, port, GATE)),
      caller: {},
      async write(allow) {
        const { status, body } = await pusher.push(routeFiles(ROUTES, allow))
        if (status !== 200) throw new Error(`PUT /v1/tables: ${status} ${body}`)
      },
    }
  },
}

const nginx: StalenessPeer = {
  name: 'nginx-reload',
  label: 'nginx -s reload',
  configuration: 'one nginx with one worker; the file is written, and nginx -s reload has exited with 0',
  every: 2,
  async start(ending, folder): Promise<RunningStalenessPeer> {
    const port = await reservePort(ending.t)
    const file = join(folder, 'nginx.conf')
    const configure = (allow: boolean) => {
      const server = `server { listen 127.0.0.1:${port}; location / { return ${statusFor(allow)}; } }`
      writeFileSync(file, nginxConfiguration(folder, 1, `access_log off;\n  ${server}`))
    }
    configure(false)
    const { path, env } = await findProgram('nginx')
    const command = nginxCommand(path, file)
    await Program.start(ending, { command, port, folder, env })
    return {
      places: [placeAt(ending, port, GATE)],
      caller: {},
      async write(allow) {
        configure(allow)
        const args = [...command.slice(1), '-s', 'reload']
        await promisify(execFile)(path, args, { env: { ...process.env, ...env } })
      },
    }
  },
}

const haproxy: StalenessPeer = {
  name: 'haproxy-runtime',
  label: 'HAProxy, set map',
  configuration:
    'one HAProxy with one thread; set map by the runtime API has been answered; the file of the map stays as it was',
  async start(ending, folder): Promise<RunningStalenessPeer> {
    const port = await reservePort(ending.t)
    const [file, map, socket] = ['haproxy.cfg', 'routes.map', 'admin'].map((name) => join(folder, name))
    writeFileSync(map ?? '', `${GATE} closed\n`)
    writeFileSync(
      file ?? '',
      `global
  nbthread 1
  stats socket ${socket} level admin
defaults
  mode http
  timeout connect 1s
  timeout client 75s
  timeout server 30s
frontend front
  bind 127.0.0.1:${port}
  http-request return status ${statusFor(true)} if { path,map(${map}) -m str open }
  http-request return status ${statusFor(false)}
`,
    )
    const { path, env } = await findProgram('haproxy')
    await Program.start(ending, { command: [path, '-db', '-f', file ?? ''], port, folder, env })
    return {
      places: [placeAt(ending, port, GATE)],
      caller: {},
      async write(allow) {
        const admin = connect(socket ?? '')
        admin.end(`set map ${map} ${GATE} ${allow ? 'open' : 'closed'}\n`)
        const answer = (await text(admin)).trim()
        if (answer !== '') throw new Error(`set map: ${answer}`)
      },
    }
  },
}

const caddy: StalenessPeer = {
  name: 'caddy-admin',
  label: 'Caddy, POST /load',
  configuration: 'one Caddy; POST /load of the admin API with the whole configuration has been answered',
  every: 2,
  async start(ending, folder): Promise<RunningStalenessPeer> {
    const [port, admin] = [await reservePort(ending.t), await reservePort(ending.t)]
    const file = join(folder, 'caddy.json')
    const configuration = (allow: boolean) =>
      JSON.stringify({
        admin: { listen: `127.0.0.1:${admin}` },
        apps: {
          http: {
            servers: {
              front: {
                listen: [`127.0.0.1:${port}`],
                automatic_https: { disable: true },
                routes: [{ handle: [{ handler: 'static_response', status_code: statusFor(allow) }] }],
              },
            },
          },
        },
      })
    writeFileSync(file, configuration(false))
    const { path, env } = await findProgram('caddy')
    await Program.start(ending, {
      command: [path, 'run', '--config', file],
      ...{ port, folder, env: { ...env, HOME: folder, XDG_CONFIG_HOME: folder, XDG_DATA_HOME: folder } },
    })
    return {
      places: [placeAt(ending, port, GATE)],
      caller: {},
      write: (allow) =>
        change(`http://127.0.0.1:${admin}/load`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: configuration(allow),
        }),
    }
  },
}

function statusFor(allow: boolean): number {
  return allow ? 200 : 403
}

export const routePeers: readonly StalenessPeer[] = [seatgate, nginx, haproxy, caddy]
