/** The route tables: what is served, what it needs, how often it is used, and who can call it. */

import { useState } from 'preact/hooks'
import { hrefOf } from '../address.js'
import { Dialog } from '../dialogs.js'
import { FilterField, useFilterForm } from '../filters.js'
import { call } from '../gateway-calls.js'
import { useList, useLoaded } from '../loading.js'
import { html } from '../markup.js'
import { countText, Name, number, Table, Time } from '../pieces.js'
import { Empty, ListEnd, PageHeading, whenLoaded } from '../states.js'

/** @typedef {import('../answers.d.ts').ListedRoute} RouteRow */
/** @typedef {import('../answers.d.ts').Answer<'GET /v1/access/who-can'>} WhoCan */

export function RoutesPage() {
  const { filter, draft, change, submit } = useFilterForm(['q', 'permission'])
  const [asked, setAsked] = useState(/** @type {RouteRow | null} */ (null))
  const routes = useList('/v1/routes', { query: filter, idOf: ({ method, path }) => `${method} ${path}` })
  return html`
    <${PageHeading} title="Routes" />
    <p class="lead">What the gateway serves, by its tables. What no entry matches is refused.</p>
    <search>
      <form class="filters" onSubmit=${submit}>
        <${FilterField} label="Part of a route" name="q" of=${draft} onInput=${change} />
        <${FilterField} label="Permission" name="permission" of=${draft} onInput=${change} />
        <button type="submit" class="button">Search</button>
      </form>
    </search>
    <${Table}
      label="Routes"
      columns=${[
        ['Route'],
        ['Needs'],
        ['Upstream', 'wide-only'],
        ['Requests', 'number wide-only'],
        ['Last', 'wide-only'],
        [html`<span class="unseen">Actions</span>`, 'action'],
      ]}
      rows=${routes.items.map(
        (route) =>
          html`<tr key=${`${route.method} ${route.path} ${route.host ?? ''}`}>
            <th scope="row">
              <code>${route.method} ${route.path}</code>
              ${route.host && html`<br /><span class="small quiet">on ${route.host}</span>`}
              ${route.file && route.line ? html`<code class="small quiet wide-only"><${Place} file=${route.file} line=${route.line} /></code>` : html`<br /><span class="small quiet">built in</span>`}
              <span class="small quiet narrow-only"
                >· ${route.requests === null ? 'not counted' : countText(route.requests, 'request')}</span
              >
            </th>
            <td class="whole"><${Needs} of=${route.permission} /></td>
            <td class="wide-only">${route.upstream}</td>
            <td class="number wide-only">
              ${route.requests === null ? html`<span class="quiet">not counted</span>` : number(route.requests)}
            </td>
            <td class="wide-only"><${Time} at=${route.last_at} none="never" /></td>
            <td class="action">
              ${route.permission.includes(':') && html`<button type="button" class="button" aria-label=${`Who can call ${route.method} ${route.path}?`} onClick=${() => setAsked(route)}>Who can?</button>`}
            </td>
          </tr>`,
      )}
    />
    ${routes.items.length > 0 && html`<p class="quiet small">Requests and the last one: allowed requests of your tenant on this instance, since it started.</p>`}
    <${ListEnd} of=${routes} what="Routes" none=${html`<${Empty}><p>No route matches.</p><//>`} />
    ${asked && html`<${WhoCanDialog} route=${asked} onClose=${() => setAsked(null)} />`}
  `
}

/** It wraps between the names of folders. @param {{ file: string, line: number }} props */
function Place({ file, line }) {
  const parts = file.split('/')
  return html`${parts.slice(0, -1).map((part) => html`${part}/<wbr />`)}${parts.at(-1)}:${line}`
}

/** @param {{ of: string }} props */
function Needs({ of }) {
  if (of === 'public') return html`<span class="badge">public</span>`
  if (of === 'authenticated') return html`<span class="quiet">any credential</span>`
  const [resource, operation] = of.split(':')
  return html`<code>${resource}:<wbr />${operation}</code>`
}

/** @param {{ route: RouteRow, onClose: () => void }} props */
function WhoCanDialog({ route, onClose }) {
  const query = { permission: route.permission, limit: '100' }
  const holders = useLoaded(
    (signal) => call('GET', '/v1/access/who-can', { query, signal }),
    [query.permission],
  )
  return html`<${Dialog} title=${`Who can call ${route.method} ${route.path}?`} onClose=${onClose} wide>
    <p>Whatever holds <code>${route.permission}</code>, in the space of the request.</p>
    ${whenLoaded(holders, 'Holders', (value) => html`<${Holders} of=${value} />`)}
  <//>`
}

/** @param {{ of: WhoCan }} props */
function Holders({ of: { seats, api_keys: keys, users, has_more: hasMore } }) {
  const lists = /** @type {const} */ ([
    [
      'Seats',
      seats.map(({ id, name, spaces, by }) => [
        id,
        hrefOf(['seats', id]),
        name,
        `in ${spaces.join(', ')}${by === '*' ? ', by *' : ''}`,
      ]),
    ],
    [
      'API keys',
      keys.map(({ id, name, seats: held }) => [id, hrefOf(['api-keys', id]), name, `by ${held.join(', ')}`]),
    ],
    [
      'Users',
      users.map(({ sub, email, seats: held, blocked }) => [
        sub,
        hrefOf(['users'], { sub }),
        email ?? sub,
        `by ${held.join(', ')}${blocked ? ', but blocked' : ''}`,
      ]),
    ],
  ])
  return html`
    ${lists.map(
      ([title, rows]) =>
        html`<section key=${title}>
          <h3>${title}</h3>
          ${rows.length === 0 && html`<p class="quiet">None.</p>`}
          <ul class="names">
            ${rows.map(
              ([id, href, name = '', how]) =>
                html`<li key=${id}>
                  <a href=${href}><${Name} of=${name} /></a> <span class="quiet"><bdi>${how}</bdi></span>
                </li>`,
            )}
          </ul>
        </section>`,
    )}
    ${hasMore && html`<p class="quiet">There are more: these are the first 100.</p>`}
    <p class="quiet small">Tokens that were issued elsewhere are not known here.</p>
  `
}
