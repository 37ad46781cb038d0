/** Seats: all that the user may see, filtered by name, space and permission. */

import { contains, FilterField, useShownFilter } from '../filters.js'
import { hrefOf } from '../address.js'
import { useList } from '../loading.js'
import { html } from '../markup.js'
import { Icon, Name, number, Table, Tags, Time } from '../pieces.js'
import { Empty, PageHeading, ListEnd } from '../states.js'

/** @typedef {import('../answers.d.ts').ListedSeat} ListedSeat */

export function SeatsPage() {
  const seats = useList('/v1/seats', { whole: true })
  const { filter, setFilter, isFiltered, shown, count, more } = useShownFilter(
    seats,
    'Seat',
    ['name', 'space', 'permission'],
    isMatch,
  )
  const clear = () => setFilter({ name: '', space: '', permission: '' })
  return html`
    <${PageHeading} title="Seats">
      <a class="button primary" href=${hrefOf(['seats', 'new'])}><${Icon} name="plus" />New Seat</a>
    <//>
    <p class="lead">A Seat is a named role: permissions, granted in each of its spaces.</p>
    <search class="filters">
      <${FilterField} label="Name" name="name" of=${filter} onInput=${setFilter} />
      <${FilterField} label="Space" name="space" of=${filter} onInput=${setFilter} />
      <${FilterField} label="Permission" name="permission" of=${filter} onInput=${setFilter} />
      ${count}
    </search>
    <${Table}
      label="Seats"
      columns=${[['Name'], ['Spaces'], ['Permissions'], ['Members', 'number'], ['Created', 'wide-only']]}
      rows=${shown.map(rowOf)}
    />
    ${more}
    <${ListEnd}
      of=${seats}
      what="Seats"
      shown=${shown}
      none=${html`<${Empty}>
        ${
          isFiltered
            ? html`<p>
                No Seat matches.
                <button type="button" class="button" onClick=${clear}>Clear the filters</button>
              </p>`
            : html`<p>No Seats here yet. <a href=${hrefOf(['seats', 'new'])}>Create the first one</a>.</p>`
        }
      <//>`}
    />
  `
}

/**
 * @param {ListedSeat} seat
 * @param {import('../filters.js').Filter} filter
 */
function isMatch({ name, spaces, permissions }, filter) {
  return (
    contains(name, filter.name) &&
    (!filter.space || spaces.some((each) => contains(each, filter.space))) &&
    (!filter.permission || permissions.some((each) => each === '*' || contains(each, filter.permission)))
  )
}

/** @param {ListedSeat} seat */
function rowOf({ id, name, spaces, permissions, member_count: members, created_at: at }) {
  return html`<tr key=${id}>
    <th scope="row">
      <a href=${hrefOf(['seats', id])}><${Name} of=${name} /></a>
    </th>
    <td><${Tags} of=${spaces} most=${2} /></td>
    <td><${Tags} of=${permissions} /></td>
    <td class="number">${number(members)}</td>
    <td class="wide-only"><${Time} at=${at} short /></td>
  </tr>`
}
