/* Shows what the server tells this device, and opens the page it is about. It keeps no pages: Steward needs its server. */
self.addEventListener('push', (event) => {
  const { title, body, url } = event.data.json();
  const shown = self.registration.showNotification(title, {
    body,
    tag: url,
    renotify: true,
    icon: '/icon-192.png',
    data: { url },
  });
  event.waitUntil(shown);
});

self.addEventListener('notificationclick', (event) => {
  event.notification.close();
  const address = new URL(event.notification.data.url, self.location.origin).href;
  const open = async () => {
    const windows = await self.clients.matchAll({ type: 'window' });
    const here = windows.find((each) => each.url === address) ?? windows[0];
    if (!here) return self.clients.openWindow(address);
    await here.focus();
    return here.url === address ? here : here.navigate(address);
  };
  event.waitUntil(open());
});
