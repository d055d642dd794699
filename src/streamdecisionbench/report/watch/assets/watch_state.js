// What the shared drawing code expects to find before the first moment arrives.

sdb.data = JSON.parse(document.getElementById('data').textContent);
sdb.follow = (topics, update) => update();
