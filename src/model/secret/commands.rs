//! How commands, functions and sentences are passed a password that no name stands before, as data: one rule a line, as in
//! `forms.rs`. The value has no form, and is held against what people choose and what machines draw.

/// The columns are those of [`super::forms::FORMS`]. In a pattern `<6>` stands for a value of six bytes or more, `<8>` for a longer
/// one: see [`VALUES`].
pub(super) const COMMANDS: &str = r#"
basic-password      -u ,--user  0    220   2.5  (?:-u |--user[ =])[\\"']{0,4}[A-Za-z0-9_.@${}-]{1,64}:([^\s"'\\$<>/]{6,128})
password-hash       $apr1$,$2y$,$2b$,$2a$,$1$,$6$,$5$,$y$,$argon2  0  240    3.7  \$(?:(?:apr1|[156]|y\$[A-Za-z0-9./]{2,6})\$(?:rounds=[0-9]{1,9}\$)?[A-Za-z0-9./]{2,22}\$[A-Za-z0-9./]{22,86}|argon2(?:id|i|d)\$v=[0-9]+\$[a-z0-9=,]{5,40}\$[A-Za-z0-9+/]{10,60}\$[A-Za-z0-9+/]{20,90}|2[aby]\$[0-9]{2}\$[A-Za-z0-9./]{53})
netrc-password      machine                 0    300   2.5  machine [a-z0-9.-]{3,80}(?:\s|\\+n)+login (?:[^\s\\"]{1,80})(?:\s|\\+n)+password ([^\s\\"$<>]{6,120})
password            sshpass  0   100    2.5  sshpass -p ?[\\"']{0,4}<6>
password            ysql,ariadb  1   240    2.5  (?:mysql|mariadb)[a-z_-]{0,12}(?: <args>)?? -p[\\"']{0,4}<6>
password            login   0   240    2.5  login <args>-p[ =]?[\\"']{0,4}<6>
password            s-cli,y-cli  6   240    2.5  (?:redis|valkey)-cli(?: <args>)?? (?:-a|--pass|(?i:auth)(?: [a-z]{1,32})??) ?[\\"']{0,4}<6>
password            mongo  0   240    2.5  mongo(?:sh|dump|restore|import|export)?(?: <args>)?? -p ?[\\"']{0,4}<6>
password            htpasswd  0   200    2.5  htpasswd (?:-[A-Za-z0-9]{1,6} ){1,3}(?:[^\s"\\-][^\s"\\]{0,80} ){1,2}[\\"']{0,4}<6>
password            nssl  4   240    2.5  openssl <args> -k ?[\\"']{0,4}<6>
password            pass:  0   90    2.5  pass:[\\"']{0,4}<6>
password            repass,ypass  12   90    2.5  -(?:src|dest)?(?:store|key)pass [\\"']{0,4}<6>
password            zip -  3   160    2.5  (?:un)?zip(?: <args>)?? -P ?[\\"']{0,4}<6>
password            7z x,7z a,rar a,rar x  0   160    2.5  (?:7za?|rar) <args>-h?p[\\"']{0,4}<6>
password            community   2   80    2.5  (?:r[ow]community|community) [\\"']{0,4}<6>
password            .com:,.org:,.net:,.dev:,.io:,.de:,.eu:,.fr:,.ru:,.cn:,.uk:  80   90    3.0  [A-Za-z0-9_.+-]{1,40}@[A-Za-z0-9.-]{2,40}:([^\s"'`\\$<>|;&(){}\[\]*,/]{8,64})
password            ldap  0   240    2.5  ldap[a-z]{3,8} <args> -w [\\"']{0,4}<6>
password            sqlcmd,mosquitto_,ipmitool  0   240    2.5  (?:sqlcmd|mosquitto_[a-z]{3}|ipmitool) <args> -P [\\"']{0,4}<6>
password            twine,psexec  0   240    2.5  (?:twine|psexec) <args> -p [\\"']{0,4}<6>
password             -a ,tp --auth  6   160    2.5  (?:https?|xhs?) (?:-a|--auth)[ =][\\"']{0,4}[A-Za-z0-9_.@-]{1,64}:<6>
password            xy-user  5   160    2.5  --proxy-user[ =][\\"']{0,4}[A-Za-z0-9_.@-]{1,64}:<6>
password            net use  0   300    2.5  net use [^\n\"|]{0,160}?/user:[A-Za-z0-9_.@\\-]{1,64} [\\"']{0,4}<6>
password            net use  0   300    2.5  net use (?:[A-Za-z*]:? )?\\+[A-Za-z0-9_.$\\-]{3,120} [\\"']{0,4}<6>[\\"']{0,4} /
password            net user  0   160    2.5  net user [A-Za-z0-9_.-]{1,64} [\\"']{0,4}<6>
password            login   0   200    2.5  (?:login )((?:[A-Za-z0-9_.-]){16,120})
password            <<<,<(  200   90    2.5  (?i:[a-z_-]{0,16}(?:token|secret|stdin|login|passw)|sudo -S|kinit|cryptsetup|luks|gpg|openssl|vault|htdigest|keyctl|telnet|smbpasswd)[^\n|;&]{0,80}(?:<<<|<\((?:echo|printf)(?: -[ne]+)?) ?[\\"']{0,4}(?:[a-z]{1,32}:)?<6>
password            rd-stdin,h-token,sudo -S,chpasswd,wd --stdin,ecret create,| kinit,cryptsetup,sl passwd,md-creds  260   40    2.5  (?:echo|printf)(?: -[ne]+)? (?:[\\"']{0,4}%s(?:\\+n)?[\\"']{0,4} )?[\\"']{0,4}(?:[a-z]{1,32}:)?<6>[\\"']{0,4} *\| *[^\n|;]{0,120}?(?:password-stdin|with-token|sudo -S|chpasswd|passwd --stdin|secret create|kinit|cryptsetup|openssl passwd|systemd-creds)
password            m-literal  3   200    2.5  from-literal[= ][\\"']{0,4}[A-Za-z0-9_.-]{1,60}=[\\"']{0,4}<6>
password            ecret set ,ecrets set   1   200    2.5  secrets? set [A-Za-z0-9_.-]{1,64}(?:=| (?:--body|-b)[ =])[\\"']{0,4}<6>
password            p-basic.  3   200    2.5  http-basic\.[a-z0-9_-]{1,40} [A-Za-z0-9_.@-]{1,64} [\\"']{0,4}<6>
password            SecureString  0   120    2.5  SecureString (?:-[A-Za-z]+ )*[\\"']{0,4}<6>
password            sqlplus  0   160    2.5  sqlplus (?:-[A-Z] )?[A-Za-z0-9_]{1,40}/[\\"']{0,4}([^\s"'`\\$<>|;&(){}\[\]*,]{6,64}?)[\\"']{0,4}@
password            mpdp ,xpdp ,qlldr   4   120    2.5  (?:impdp|expdp|sqlldr(?: userid=)?) [A-Za-z0-9_]{1,40}/[\\"']{0,4}<6>
password            --uri,--dsn  0   160    2.5  --(?:uri|dsn)[ =][\\"']{0,4}[A-Za-z0-9_.-]{1,64}:<6>@
password            bundle config  0   160    2.5  bundle config (?:set )?(?:--[a-z]+ )?[a-z0-9_./:-]{1,80} [A-Za-z0-9_.@-]{1,64}:<6>
password            chtasks  2   240    2.5  schtasks <args> /rp [\\"']{0,4}<6>
basic-password      AUTH PLAIN,AUTH LOGIN  0   200    3.0  AUTH (?:PLAIN|LOGIN) ([A-Za-z0-9+/]{12,160}={0,2})
password            thin:  0   120    2.5  thin:[A-Za-z0-9_]{1,40}/<6>@
password            @tcp(  100   5    2.5  [A-Za-z0-9_]{1,40}:<6>@tcp\(
password            IDENTIFIED BY,tified by  4   120    2.5  (?i:identified by) [\\"']{0,4}<6>
password            irepass,rauth  5   120    2.5  (?:requirepass|masterauth) [\\"']{0,4}<6>
password            -keygen  3   200    2.5  ssh-keygen <args> -[NP] ?[\\"']{0,4}<6>
password            smbclient  0   240    2.5  smbclient <args>-U [\\"']{0,4}[A-Za-z0-9_.\\-]{1,64}%<6>
password            eerdp  6   240    2.5  [a-z]{0,3}freerdp[0-9]? <args> /p:[\\"']{0,4}<6>
password            wifi connect  0   200    2.5  wifi connect <args> password [\\"']{0,4}<6>
password            :5432:,:3306:,:1521:,:27017:  80   200    2.5  [a-z0-9_.*-]{1,64}:[0-9]{4,5}:[A-Za-z0-9_*-]{1,64}:[A-Za-z0-9_*-]{1,64}:<6>
password            ?key=,&key=  0   90    2.5  [?&]key=([A-Za-z0-9_-]{12,64})
session-cookie      ookie:   1   900    2.5  [Cc]ookie: (?:[^\n"'\\=]{1,64}=[^\n"'\\;]{0,15}; ?){0,12}[A-Za-z0-9_.-]{1,64}=([A-Za-z0-9%_.+/=:-]{16,800})
session-cookie      --cookie,rl -b  2   400    2.5  (?:--cookie|curl(?: <args>)?? -b)[ =][\\"']{0,4}[A-Za-z0-9_.-]{1,64}=([A-Za-z0-9%_.+/=:-]{16,300})
password            e password   2   90    2.5  the password [\\"']{0,4}([A-Za-z0-9!@#$%^&*?+~_-]{8,64})
password             -p , -P , -w ,--pass  160   90    2.6  -(?:u|U|l|n|-user(?:name)?|-login|-name)[ =]?[\\"']{0,4}[A-Za-z0-9_.@\\-]{1,64}[\\"']{0,4} (?:[^\n|;&\\]{0,80}? )??(?:-p|-P|-w|--pass)[ =][\\"']{0,4}<6>
password            useradd,usermod,keychain,generic-p,et-password  10   200    2.5  (?:useradd|usermod|unlock-keychain|add-(?:generic|internet)-password)(?: <args>)?? -[pw] [\\"']{0,4}<6>
password            bcp   0   240    2.5  bcp <args> -P ?[\\"']{0,4}<6>
password            creds,-auth,-login,-credential  24   160    2.5  --?[a-z-]{0,20}(?:creds|auth|login|credentials?)[ =][\\"']{0,4}[A-Za-z0-9_.@-]{1,64}:<6>
password            lftp ,ftp -u  3   160    2.5  lftp (?:[^\n|;&\\]{0,80}? )??-u [\\"']{0,4}[A-Za-z0-9_.@-]{1,64},<6>
password            obscure   0   100    2.5  obscure [\\"']{0,4}<6>
password            add_user ,adduser ,_password ,-password ,asswd ,assphrase   24   120    2.5  (?:[a-z_-]{0,20}(?:add_?user|(?:change|set|update|reset)(?:[_-][a-z]{1,10})?[_-]password|_passwd|_passphrase)|[a-z]{2,20} passwd)(?: -{1,2}[A-Za-z0-9-]{1,12})*(?: [\\"']{0,4}[A-Za-z0-9_.@-]{1,64}[\\"']{0,4})? [\\"']{0,4}<6>
password            qpdf   0   160    2.5  qpdf [^\n|;&\\]{0,80}?--encrypt [\\"']{0,4}<6>
password            signtool  0   200    2.5  signtool(?:\.exe)? [^\n|;&]{0,120}? /p [\\"']{0,4}<6>
password            sec.psk ,-psk   6   100    2.5  psk [\\"']{0,4}<6>
password            | passwd,| sudo passwd  200   20    2.5  (?:echo|printf)(?: -[ne]+)? [\\"']{0,4}((?:[^\s\"'`$<>|;&(){}\[\]*,\\]|\\+n|\n){6,130})[\\"']{0,4} *\| *(?:sudo )?passwd
password            ariable(,etenv(,utenv(,roperty(,etItem(  24   200    2.5  (?:SetEnvironmentVariable|setenv|putenv|setProperty|setItem)\( ?[\\"']{0,4}[A-Za-z0-9_.-]{0,40}(?i:key|token|secret|passw?o?r?d?|pwd|credential)[\\"']{0,4} ?, ?[\\"']{0,4}<6>
password            assword(,asswd(,assphrase(,ecret(,oken(,iKey(,i_key(  12   120    3.0  (?:[sS]et|[wW]ith|\.)_?(?i:password|passwd|passphrase|secret|token|api_?key)\( ?[\\"']{1,4}<6>[\\\"']{1,4} ?\)
password            sig=,ignature=  16   600    2.5  [?&](?:sig|(?:X-Amz-|X-Goog-)?Signature)=([A-Za-z0-9+/%_.-]{32,512}={0,2})
password            d-command,d-cmd,s-command,s-cmd   16   120    2.5  (?i:pass(?:word)?|secret|token)[_-](?:command|cmd)[= ][\\"']{0,4}(?:echo|printf)(?: -[ne]+)? [\\"']{0,4}<6>
password            psexec,smbexec,wmiexec,tsdump   12   160    2.5  (?:psexec|smbexec|wmiexec|secretsdump)<args>[A-Za-z0-9_.-]{1,40}[/\\]+[A-Za-z0-9_.-]{1,40}:<6>@
password            admin / ,root /    16   110    2.5  (?i:admin|root) / [\\"'`]{0,4}<6>
password            s Passwort,s Kennwort,mot de passe,raseña,enha,jako has,lösenord,作为密码,作为口令,をパスワード   90   40    2.5  ([A-Za-z0-9!@#$%^&*?+~_-]{8,64})[\\"'`]{0,4} ?(?:als (?:Pass|Kenn)wort|comme mot de passe|como (?:contraseña|senha)|jako hasło|som lösenord|作为(?:密码|口令)|をパスワード)
password            bcrypt,gon2,pbkdf2,shpw   6   140    2.5  (?:bcrypt|argon2|pbkdf2|hashpw)[A-Za-z0-9_.:]{0,24}\((?:[^()\n"']{0,60}, ?)?b?[\\"']{1,4}<6>[\\"']{1,4} ?[,).]
password            og in with ,og in as ,gn in with ,gn in as ,ogin with ,ogin as ,ogin: ,ogins: ,ogin is ,sername: ,user: ,redentials: ,redentials are ,ccount:   12   150    2.5  (?i:(?:log|sign)[ -]?in (?:with|as)|login|username|user|credentials?|creds|account) ?(?: is| are|s)?:? [\\"']{0,4}[A-Za-z0-9_.@-]{1,64}[\\"']{0,4} / [\\"']{0,4}<6>
password            as the pass,as my pass,as its pass,as a pass,as pass,or the pass,or my pass,s the root pass,s the admin pass,as your pass  90   40    2.5  ([A-Za-z0-9!@#$%^&*?+~_-]{8,64})[\\"'`]{0,4} (?:as|for) (?:(?:the|its|my|your|an?) )?(?:[a-z]{2,12} )?password
password            -pw ,-p ,-P ,-w , -p, -P  1   120    3.0   -(?:pw|[pPw])[ =]?[\\"']{0,4}<8>
password            <<<  0   90    3.0  <<< ?[\\"']{0,4}<8>
password            echo ,printf   0   160    3.0  (?:echo|printf)(?: -[neE]+)? [\\"']{0,4}(?:[a-z0-9_.-]{1,32}:)?<8>(?:\\+n(?:[^\s"'`\\$<>|;&(){}\[\]*,]{8,64}))?(?:\\+n)?[\\"']{0,4} *(?:\||\))
password            ogin ,ogon ,secret,encrypt,user create,useradd,adduser,isql,kinit,bundle config,http-basic  10   200    3.0  (?:[a-z_-]{0,10}login|\.logon|secrets? set|user-secrets set|encrypt_string|user create|useradd|adduser|isql|kinit|bundle config|http-basic\.[a-z0-9._-]{1,60})(?: (?:[^\n|;&\\]|\\+"){0,80}?)??[ :,/%][\\"']{0,4}<8>
password            --value ,--body ,--secret-string ,--oauth2-bearer ,--bearer ,--apikey   0   140    3.0  --(?:value|body|secret-string|oauth2-bearer|bearer|apikey)[ =][\\"']{0,4}<8>
password            -U   0   140    3.0  -U [\\"']{0,4}[A-Za-z0-9_.\\-]{1,64}%<8>
password            PASSWORD,PASSWD,TOKEN,SECRET,API_KEY,_PASS  0   160    3.0  (?:PASSWORD|PASSWD|TOKEN|SECRET|API_KEY|_PASS)[\\"']{0,4}(?:\\+n|\n)\s{0,20}value: ?[\\"']{0,4}<8>
password            ogin(,PDO(,mysqli(,redential]::new(,FTP(,FTP_TLS(,redentials(,redential(,asicAuth(,uthenticate(,lainAuth(  12   240    2.9  (?:[A-Za-z_]{0,10}(?:mysqli|redential\]::new|[lL]ogin|PDO|FTP|FTP_TLS|[cC]redentials?|[aA]uth|[aA]uthenticate))\((?:[^()\n]{0,120}?, ?)?[\\"']{1,4}<8>[\\"']{1,4} ?[,)]
password            ogin(,PDO(,uth(,uth=(,redentials(,redential(,equelize(,onnect(,onnection(,.sign(,asicAuth(,uthenticate(,lainAuth(  12   240    3.0  (?:[A-Za-z_]{0,10}(?:[lL]ogin|PDO|[aA]uth|[cC]redentials?|[sS]equelize|[cC]onnect(?:ion)?|[aA]uthenticate|\.sign))=?\((?:[^()\n]{0,120}?, ?)?[\\"']{1,4}<8>[\\"']{1,4}
"#;

/// What stands for a value in a pattern, and its own pattern. What begins with a `$` is a variable.
pub(super) const VALUES: [(&str, &str); 3] = [
    // Arguments, which may be quoted: as far as the command goes, and no text of JSON.
    (
        "<args>",
        "(?:[^\\n\"|;&\\\\]|\\\\*\"[^\\n\"\\\\,:}\\]][^\\n\"\\\\]*\\\\*\"){0,120}?",
    ),
    (
        "<6>",
        "([^\\s\"'`\\\\$<>|;&(){}\\[\\]*,][^\\s\"'`\\\\<>|;&(){}\\[\\]*,]{5,63})",
    ),
    (
        "<8>",
        "([^\\s\"'`\\\\$<>|;&(){}\\[\\]*,][^\\s\"'`\\\\<>|;&(){}\\[\\]*,]{7,63})",
    ),
];
